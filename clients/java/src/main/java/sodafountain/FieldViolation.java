package sodafountain;

import java.io.Serializable;

/**
 * An invalid field of a request.
 *
 * @param field the path of the field in the request message, such as {@code options.soda_jerk.first_seat}
 * @param description the problem, and the valid values
 * @serial exclude
 */
public record FieldViolation(String field, String description) implements Serializable {}
