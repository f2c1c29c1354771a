import { isId } from "../base/ids.ts";
import type { Principal } from "../domain/access/principal.ts";
import type { UploadedAudio } from "../domain/calls/audio-input.ts";
import { isUsable, type StoredAudio } from "../domain/calls/stored-audio.ts";
import { parseBody } from "../domain/input/input-parser.ts";
import { Refusal } from "../domain/refusal.ts";
import type { NewReceipt, Page } from "../ports/storage.ts";
import { decodedAudio, type MessageChecks } from "./calls/creation/message-checks.ts";
import type { Context } from "./context.ts";
import { type IdempotencyContext, runOnce } from "./idempotency/idempotency.ts";
import { shortenedId } from "./instances/owned-instance.ts";
import type { AudioUseCases, CreateOptions, Creation } from "./use-cases.ts";
import { storageQuota } from "./user-limits/byte-budget.ts";
import { refuseDemo } from "./user-limits/refuse-demo.ts";

type AudioContext = Pick<Context, "ids" | "limits" | "schemas" | "strictSchemas" | "system"> & IdempotencyContext;

const DEMO = "a demo token cannot use stored audio files";

/** The use cases of stored audio files. */
export class AudioLibrary implements AudioUseCases {
  readonly #context: AudioContext;
  readonly #checks: Pick<MessageChecks, "checkFile">;

  /** @param checks shared with calls, since they share its limits */
  constructor(context: AudioContext, checks: Pick<MessageChecks, "checkFile">) {
    this.#context = context;
    this.#checks = checks;
  }

  async create(principal: Principal, body: unknown, options: CreateOptions = {}): Promise<StoredAudio & Creation> {
    const { strict = false } = options;
    const { schemas, strictSchemas } = this.#context;
    const input = parseBody((strict ? strictSchemas : schemas).createAudio, body, { strict });
    refuseDemo(principal, DEMO);
    const file = await decodedAudio(input.audio);
    const { name = null, expiresInMs = null } = input;
    return runOnce(
      this.#context,
      principal,
      options.idempotencyKey,
      ["audio", { file, name, expiresInMs }],
      (receipt) => this.#store(principal, file, { name, expiresInMs }, receipt, options.signal),
      async ({ recordId }) => {
        const audio = await this.#context.storage.audio.get(recordId);
        return audio && audio.deletedAt === null ? { ...audio, created: true, replayed: true } : undefined;
      },
    );
  }

  async get(principal: Principal, audioId: string): Promise<StoredAudio> {
    return usableAudio(this.#context, principal, audioId);
  }

  async list(principal: Principal, page: Page = {}): Promise<StoredAudio[]> {
    refuseDemo(principal, DEMO);
    const { purgeClock, storage } = this.#context;
    return storage.audio.list(principal.userId, purgeClock.now(), page);
  }

  async delete(principal: Principal, audioId: string): Promise<void> {
    const { id } = await usableAudio(this.#context, principal, audioId);
    const { system, storage } = this.#context;
    if (!(await storage.audio.delete(id, system.now()))) throw audioNotFound(audioId);
  }

  async #store(
    principal: Principal,
    { bytes, sha256 }: UploadedAudio,
    { name, expiresInMs }: { readonly name: string | null; readonly expiresInMs: number | null },
    receipt: NewReceipt | undefined,
    signal: AbortSignal | undefined,
  ): Promise<(StoredAudio & Creation) | undefined> {
    const { ids, limits, purgeClock, storage, system } = this.#context;
    const { userId } = principal;
    const file = await this.#checks.checkFile(principal, userId, bytes, signal);
    const now = purgeClock.now(); // the clock by which files expire
    const audio: StoredAudio = {
      id: ids("audio"),
      userId,
      name,
      sha256,
      size: bytes.length,
      file,
      createdAt: system.now(),
      expiresAt: expiresInMs === null ? null : now + expiresInMs,
      deletedAt: null,
    };
    const { audioFilesPerUser: maxFiles, storedBytesPerUser: userBytes } = limits;
    const insertion = await storage.audio.insert(audio, bytes, now, { maxFiles, userBytes }, receipt);
    switch (insertion.kind) {
      case "created":
        return { ...audio, created: true, replayed: false };
      case "existing":
        return { ...insertion.audio, created: false, replayed: false };
      case "repeated":
        return undefined;
      case "at_limit":
        throw new Refusal(
          "audio_quota",
          `you have ${maxFiles} audio files, and this server allows ${maxFiles}; delete one first`,
        );
      case "over_budget":
        throw await storageQuota(this.#context, { userId }, "user");
      case "user_deleted":
        throw new Refusal("unauthorized", "the account of this token was deleted");
    }
  }
}

/** A user's stored file, for new calls. @throws {Refusal} `audio_not_found`, `demo_token_restricted` */
export async function usableAudio(
  { purgeClock, storage }: Pick<Context, "purgeClock" | "storage">,
  principal: Principal,
  audioId: string,
): Promise<StoredAudio> {
  refuseDemo(principal, DEMO);
  const audio = isId("audio", audioId) ? await storage.audio.get(audioId) : undefined;
  if (!audio || audio.userId !== principal.userId || !isUsable(audio, purgeClock.now())) throw audioNotFound(audioId);
  return audio;
}

/** The refusal for a file that does not exist for this principal. */
export function audioNotFound(audioId: string): Refusal {
  return new Refusal("audio_not_found", `there is no audio file "${shortenedId(audioId)}"`);
}
