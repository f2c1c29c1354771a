/** Characters that one text may have. */
export const LONGEST_TEXT = 4096;

/** Seconds of audio that one text may become: as long as an uploaded message may be. */
export const LONGEST_AUDIO_S = 600;
