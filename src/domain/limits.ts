/** Limits of requests, and of the data of one user. Each is an option. */
export interface Limits {
  /** Maximum size of a request body, bytes. */
  readonly bodyBytes: number;
  /** Maximum total size of the bodies above 64 KiB that are being received or processed, bytes. */
  readonly allBodiesBytes: number;
  /**
   * Maximum total size of one user's bodies above 64 KiB, bytes; smaller bodies have a separate budget of this size.
   */
  readonly userBodiesBytes: number;
  /** Maximum length of the `name` of an instance, characters after trimming. */
  readonly nameLength: number;
  /** Maximum length of the `reference` of a call, characters. */
  readonly referenceLength: number;
  /** Maximum size of `metadata` as JSON, bytes. */
  readonly metadataBytes: number;
  /** Maximum nesting of `metadata`, levels. */
  readonly metadataDepth: number;
  /** Maximum length of `tts.text`, characters. */
  readonly textLength: number;
  /** Maximum size of a decoded audio file, bytes. */
  readonly audioBytes: number;
  /** Length of the decoded audio, ms. */
  readonly audioMs: number;
  /** Number of `agent.instructions`. */
  readonly instructions: number;
  /** Maximum length of each of `agent.instructions`, characters. */
  readonly instructionLength: number;
  /** Maximum number of instances of one user, excluding deleted instances. */
  readonly instancesPerUser: number;
  /** Maximum number of webhooks of one user. */
  readonly webhooksPerUser: number;
  /** Maximum number of phone numbers for which one user records consents. */
  readonly consentsPerUser: number;
  /** Maximum number of stored audio files of one user. */
  readonly audioFilesPerUser: number;
  /** Maximum number of batches of one user, including ended batches. */
  readonly batchesPerUser: number;
  /** Maximum number of targets of one batch. */
  readonly targetsPerBatch: number;
  /** Storage limit of one user, bytes: calls with all of their records, audio files, and instances, including deleted ones. */
  readonly storedBytesPerUser: number;
  /** Part of that limit for calls created with the demo tokens of one instance, bytes. */
  readonly storedBytesPerDemoInstance: number;
}

/** Number of bytes assumed for a recorded ms: samples of 16 bits, two channels, at most 16 kHz. */
export const RECORDED_BYTES_PER_MS = 64;

/** The default limits. */
export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 16 * 1024 * 1024,
  allBodiesBytes: 256 * 1024 * 1024,
  userBodiesBytes: 64 * 1024 * 1024,
  nameLength: 120,
  referenceLength: 120,
  metadataBytes: 16 * 1024,
  metadataDepth: 8,
  textLength: 4096,
  audioBytes: 10 * 1024 * 1024,
  audioMs: 10 * 60_000,
  instructions: 100,
  instructionLength: 4000,
  instancesPerUser: 1000,
  webhooksPerUser: 20,
  consentsPerUser: 100_000,
  audioFilesPerUser: 1000,
  batchesPerUser: 200,
  targetsPerBatch: 100_000,
  storedBytesPerUser: 4 * 1024 ** 3,
  storedBytesPerDemoInstance: 12 * 1024 ** 2,
};
