/** The largest start line and header that is read, bytes. */
export const MAX_HEADER_BYTES = 65_536;

/** The largest body that is read, bytes. */
export const MAX_BODY_BYTES = 262_144;

/** The most header fields that are read. */
export const MAX_FIELDS = 500;
