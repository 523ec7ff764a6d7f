import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.DiscardUnknownFieldsParser;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Removes the annotations from the compiled contract. The Maven build runs this program before it generates the stubs.
 *
 * <p>The annotations, for example for REST, belong to other packages: with them, the stubs would depend on generated
 * classes that no client needs.
 */
public final class AdaptContract {
    private static final String CONTRACT = "sodafountain/";
    // Types such as Timestamp. All other imports contain only annotations.
    private static final String WELL_KNOWN_TYPES = "google/protobuf/";

    private AdaptContract() {}

    /**
     * Reads a file descriptor set and writes the adapted one.
     *
     * @param arguments the path to read from and the path to write to
     * @throws IOException if a file cannot be read or written
     */
    public static void main(String[] arguments) throws IOException {
        FileDescriptorSet.Builder adapted = FileDescriptorSet.newBuilder();
        for (FileDescriptorProto file : read(Path.of(arguments[0])).getFileList()) {
            if (file.getName().startsWith(CONTRACT)) {
                adapted.addFile(adapt(file));
            } else if (file.getName().startsWith(WELL_KNOWN_TYPES)) {
                adapted.addFile(file);
            }
        }
        Files.write(Path.of(arguments[1]), adapted.build().toByteArray());
    }

    /** Reads descriptors without their annotations, which are unknown fields where no extension is registered. */
    private static FileDescriptorSet read(Path path) throws IOException {
        try (InputStream compiled = Files.newInputStream(path)) {
            return DiscardUnknownFieldsParser.wrap(FileDescriptorSet.parser()).parseFrom(compiled);
        }
    }

    private static FileDescriptorProto adapt(FileDescriptorProto file) {
        FileDescriptorProto.Builder adapted = file.toBuilder().clearDependency();
        file.getDependencyList().stream()
                .filter(name -> name.startsWith(CONTRACT) || name.startsWith(WELL_KNOWN_TYPES))
                .forEach(adapted::addDependency);
        return adapted.build();
    }
}
