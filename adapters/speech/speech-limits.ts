/** Characters that one text may have. */
export const LONGEST_TEXT = 4096;
