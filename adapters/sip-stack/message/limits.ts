/** The largest start line and header that is accepted, bytes (RFC 3261 section 21.5.7). */
export const MAX_HEADER_BYTES = 65_536;

/** The largest body that is accepted, bytes (RFC 3261 section 21.4.11). */
export const MAX_BODY_BYTES = 262_144;

/** The most header fields that are accepted. */
export const MAX_FIELDS = 500;
