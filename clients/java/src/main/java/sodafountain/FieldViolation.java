package sodafountain;

import java.io.Serializable;

/**
 * A field of a request that is wrong.
 *
 * @param field the path of the field in the request message, {@code options.soda_jerk.first_seat} for instance
 * @param description what would be right
 * @serial exclude
 */
public record FieldViolation(String field, String description) implements Serializable {}
