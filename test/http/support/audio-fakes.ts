import type { AudioUseCases } from "../../../src/application/use-cases.ts";
import type { StoredAudio } from "../../../src/domain/calls/stored-audio.ts";
import { Refusal } from "../../../src/domain/refusal.ts";

export const AUDIO_ID = "audio_01k7zq7t1vg4h6k8n0q2s4v6xz";
const NOW = Date.UTC(2026, 0, 31, 12);

export const storedAudio = (overrides: Partial<StoredAudio> = {}): StoredAudio => ({
  id: AUDIO_ID,
  userId: "usr_anna",
  name: "Greeting",
  sha256: "ab".repeat(32),
  size: 480_044,
  file: { format: "wav", durationMs: 30_000, truncated: false },
  createdAt: NOW,
  expiresAt: NOW + 86_400_000,
  deletedAt: null,
  ...overrides,
});

/** Use cases with one stored audio file. */
export function audioUseCases(): AudioUseCases {
  const assertKnown = async (id: string): Promise<void> => {
    if (id !== AUDIO_ID) throw new Refusal("audio_not_found", "there is no such audio file");
  };
  return {
    create: async () => ({ ...storedAudio(), created: true, replayed: false }),
    get: (_, id) => assertKnown(id).then(() => storedAudio()),
    delete: (_, id) => assertKnown(id),
    list: async () => [storedAudio()],
  };
}
