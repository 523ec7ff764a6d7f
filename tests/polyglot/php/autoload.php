<?php
// Loads generated classes from the folder `generated`, and those of the protobuf library from PHP's include path.

set_include_path(__DIR__ . '/generated' . PATH_SEPARATOR . get_include_path());
spl_autoload_register(function (string $class): void {
    @include_once str_replace('\\', '/', $class) . '.php';
});
