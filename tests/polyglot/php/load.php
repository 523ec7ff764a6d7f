<?php
// Loads every generated class and creates one object of each message.

require __DIR__ . '/autoload.php';

$files = new RecursiveIteratorIterator(new RecursiveDirectoryIterator(__DIR__ . '/generated/SodaFountain'));
foreach ($files as $file) {
    if ($file->getExtension() !== 'php') {
        continue;
    }
    require_once $file->getPathname();
    $path = substr($file->getPathname(), strlen(__DIR__ . '/generated/'), -strlen('.php'));
    $class = str_replace('/', '\\', $path);
    if (is_subclass_of($class, Google\Protobuf\Internal\Message::class)) {
        new $class();
    }
}
