import type { Batch } from "../../domain/batches/batch.ts";
import type { Call } from "../../domain/calls/call.ts";
import type { StoredAudio } from "../../domain/calls/stored-audio.ts";
import { newAccount } from "./accounts/login-records.ts";
import { newBatch } from "./batches.ts";
import { type Clause, LONG_QUEUE, type StorageScene } from "./scene.ts";

const LIMITS = { maxFiles: 10, userBytes: Infinity };
const FILE = Uint8Array.of(7, 0, 255);

/** Audio files that users have stored for calls. */
export function storedAudioContract(clause: Clause, persistenceClause: Clause): void {
  records(clause, persistenceClause);
  uses(clause, persistenceClause);
  limits(clause);
}

function records(clause: Clause, persistenceClause: Clause): void {
  persistenceClause("a stored audio file is read back unchanged", async (scene) => {
    const named = storedAudio(scene, { name: "Greeting ☎ '\"", expiresAt: scene.now() + 1_000 });
    const unnamed = storedAudio(scene, { sha256: "b".repeat(64) });
    for (const audio of [named, unnamed]) scene.equal(await insert(scene, audio), { kind: "created" });
    await scene.reopen();
    const { audio } = scene.storage;
    scene.equal(await audio.get(named.id), named);
    scene.equal(await audio.get(unnamed.id), unnamed);
    scene.equal(await audio.get(scene.id("audio")), undefined);
  });

  clause("the same content of one user is stored once, even concurrently, until the later time", async (scene) => {
    const attempts = Array.from({ length: 5 }, (_, i) => storedAudio(scene, { expiresAt: 10_000 + i }));
    const results = await Promise.all(attempts.map((audio) => insert(scene, audio, { now: 5 })));
    scene.equal(results.filter(({ kind }) => kind === "created").length, 1);
    const [stored, ...others] = await scene.storage.audio.list(scene.userId, 5, {});
    scene.equal(others, []);
    scene.equal(stored?.expiresAt, 10_004);
    const existing = (expiresAt: number | null) => ({ kind: "existing", audio: { ...stored, expiresAt } });
    scene.equal(await insert(scene, storedAudio(scene, { expiresAt: 9_000 }), { now: 5 }), existing(10_004));
    scene.equal(await insert(scene, storedAudio(scene), { now: 5 }), existing(null));
    scene.equal(await insert(scene, storedAudio(scene, { expiresAt: 20_000 }), { now: 5 }), existing(null));
    const foreign = storedAudio(scene, { userId: scene.id("usr") });
    scene.equal(await insert(scene, foreign), { kind: "created" });
  });

  clause("a file with the content of an expired or deleted one is stored again", async (scene) => {
    const first = storedAudio(scene, { expiresAt: 10 });
    await insert(scene, first, { now: 5 });
    const second = storedAudio(scene);
    scene.equal(await insert(scene, second, { now: 10 }), { kind: "created" });
    await scene.storage.audio.delete(second.id, 11);
    scene.equal(await insert(scene, storedAudio(scene), { now: 12 }), { kind: "created" });
  });

  clause("usable files are listed, newest first, in pages", async (scene) => {
    const { audio } = scene.storage;
    const files = ["a", "b", "c", "d"].map((letter, i) =>
      storedAudio(scene, { sha256: letter.repeat(64), expiresAt: i === 0 ? 10 : null }),
    );
    for (const file of files) await insert(scene, file, { now: 5 });
    await audio.delete(files[1]?.id ?? "", 6);
    const list = async (...args: Parameters<typeof audio.list>) => (await audio.list(...args)).map(({ id }) => id);
    scene.equal(await list(scene.userId, 9, {}), [files[3]?.id, files[2]?.id, files[0]?.id]);
    scene.equal(await list(scene.userId, 10, { limit: 1 }), [files[3]?.id]);
    scene.equal(await list(scene.userId, 10, { limit: 5, after: files[3]?.id ?? "" }), [files[2]?.id]);
    scene.equal(await list(scene.id("usr"), 9, {}), []);
  });

  clause("a key with a receipt stores no other file", async (scene) => {
    const receipt = { ...scene.key("k"), fingerprint: "body", begunAt: scene.now(), expiredBefore: 0 };
    const audio = storedAudio(scene);
    scene.equal(await insert(scene, audio, { receipt }), { kind: "created" });
    scene.equal((await scene.storage.receipts.find(receipt, 0))?.recordId, audio.id);
    const other = storedAudio(scene, { sha256: "b".repeat(64) });
    scene.equal(await insert(scene, other, { receipt }), { kind: "repeated" });
    scene.equal(await scene.storage.audio.get(other.id), undefined);
  });
}

function uses(clause: Clause, persistenceClause: Clause): void {
  persistenceClause("calls read a stored file, which outlives its deletion until they have ended", async (scene) => {
    const instance = await scene.storedInstance();
    const audio = storedAudio(scene);
    await insert(scene, audio);
    const call = callWith(scene, instance, audio);
    scene.equal((await scene.storage.calls.insert(call, undefined, LONG_QUEUE, [])).kind, "created");
    await scene.reopen();
    const { calls, audio: store } = scene.storage;
    scene.equal(await calls.audio(call.id), FILE);
    scene.equal(await store.delete(audio.id, 6), true);
    scene.equal(await store.delete(audio.id, 7), false);
    scene.equal(await store.purge(8), 0);
    scene.equal(await store.get(audio.id), { ...audio, deletedAt: 6 });
    scene.equal(await calls.audio(call.id), FILE);
    const late = callWith(scene, instance, audio);
    scene.equal((await calls.insert(late, undefined, LONG_QUEUE, [])).kind, "audio_gone");
    await scene.updateCall(call, { status: "COMPLETED", endedAt: scene.now() });
    scene.equal(await calls.audio(call.id), undefined);
    scene.equal(await store.purge(9), 1);
    scene.equal(await store.get(audio.id), undefined);
    scene.equal((await calls.insert(late, undefined, LONG_QUEUE, [])).kind, "audio_gone");
  });

  clause("the end of a call leaves its stored file", async (scene) => {
    const instance = await scene.storedInstance();
    const audio = storedAudio(scene);
    await insert(scene, audio);
    for (let i = 0; i < 2; i++) {
      const call = callWith(scene, instance, audio);
      await scene.storage.calls.insert(call, undefined, LONG_QUEUE, []);
      scene.equal(await scene.storage.calls.audio(call.id), FILE);
      await scene.updateCall(call, { status: "COMPLETED", endedAt: scene.now() });
    }
    scene.equal(await scene.storage.audio.purge(scene.now()), 0);
    scene.equal(await scene.storage.audio.get(audio.id), audio);
  });

  clause("a batch keeps a deleted file for its calls until it has ended", async (scene) => {
    const { batches, calls, audio: store } = scene.storage;
    const instance = await scene.storedInstance();
    const audio = storedAudio(scene);
    await insert(scene, audio);
    const draft = batchWith(scene, audio);
    scene.equal(await batches.insert(draft, undefined, 10), "created");
    await batches.addTargets(draft.id, [TARGET], 10);
    await store.delete(audio.id, 6);
    scene.equal(await batches.insert(batchWith(scene, audio), undefined, 10), "audio_gone");
    scene.equal(await batches.audio(draft.id), FILE);
    const running = await batches.update(
      draft.id,
      (await batches.get(draft.id))?.version ?? 0,
      { status: "RUNNING" },
      [],
    );
    const place = { batchId: draft.id, batchPosition: 1, batchAttempt: 1 };
    const call = callWith(scene, instance, audio, place);
    scene.equal((await calls.insert(call, undefined, LONG_QUEUE, [])).kind, "created");
    scene.equal(await store.purge(7), 0);
    await batches.update(draft.id, running?.version ?? 0, { status: "CANCELLED", endedAt: 8 }, []);
    scene.equal(await store.purge(9), 0);
    scene.equal(await calls.audio(call.id), FILE);
    await scene.updateCall(call, { status: "FAILED", endedAt: scene.now() });
    scene.equal(await store.purge(10), 1);
  });

  clause("expired files are purged", async (scene) => {
    const { audio } = scene.storage;
    const expiring = storedAudio(scene, { expiresAt: 10 });
    const kept = storedAudio(scene, { sha256: "b".repeat(64) });
    for (const file of [expiring, kept]) await insert(scene, file, { now: 5 });
    scene.equal(await audio.purge(9), 0);
    scene.equal(await audio.purge(10), 1);
    scene.equal(await audio.get(expiring.id), undefined);
    scene.equal(await audio.get(kept.id), kept);
  });

  clause("a call and the deletion of its file exclude each other", async (scene) => {
    const { audio: store, calls } = scene.storage;
    for (let i = 0; i < 10; i++) {
      const instance = await scene.storedInstance();
      const audio = storedAudio(scene);
      await insert(scene, audio);
      const call = callWith(scene, instance, audio);
      const [{ kind }] = await Promise.all([
        calls.insert(call, undefined, LONG_QUEUE, []),
        store.delete(audio.id, scene.now()),
      ]);
      scene.equal(await calls.audio(call.id), kind === "created" ? FILE : undefined);
    }
  });
}

function limits(clause: Clause): void {
  clause("a stored file counts towards its user's bytes until it is removed", async (scene) => {
    const storedBytes = () => scene.storage.retention.storedBytes(scene.userId);
    const file = new Uint8Array(64 * 1024);
    const audio = storedAudio(scene);
    const userBytes = 80 * 1024;
    scene.equal(await insert(scene, audio, { file, userBytes: file.length }), { kind: "over_budget" });
    scene.equal(await scene.storage.audio.get(audio.id), undefined);
    scene.equal(await insert(scene, audio, { file, userBytes }), { kind: "created" });
    scene.equal((await storedBytes()) >= file.length, true);
    const other = storedAudio(scene, { sha256: "b".repeat(64) });
    scene.equal(await insert(scene, other, { file, userBytes }), { kind: "over_budget" });
    await scene.storage.audio.delete(audio.id, 1);
    scene.equal(await storedBytes(), 0);
    scene.equal(await insert(scene, other, { file, userBytes }), { kind: "created" });
  });

  clause("a user never has more files than allowed, even after concurrent uploads", async (scene) => {
    const files = Array.from({ length: 6 }, (_, i) => storedAudio(scene, { sha256: String(i).repeat(64) }));
    const results = await Promise.all(files.map((file) => insert(scene, file, { maxFiles: 3 })));
    scene.equal(results.filter(({ kind }) => kind === "created").length, 3);
    scene.equal(results.filter(({ kind }) => kind === "at_limit").length, 3);
    const [first] = await scene.storage.audio.list(scene.userId, 0, {});
    await scene.storage.audio.delete(first?.id ?? "", 1);
    const next = storedAudio(scene, { sha256: "9".repeat(64) });
    scene.equal(await insert(scene, next, { maxFiles: 3 }), { kind: "created" });
  });

  clause(
    "files that expired, or were deleted while a call uses them, do not count towards the limit",
    async (scene) => {
      const used = storedAudio(scene);
      const expired = storedAudio(scene, { sha256: "b".repeat(64), expiresAt: 10 });
      for (const audio of [used, expired]) scene.equal(await insert(scene, audio), { kind: "created" });
      const call = callWith(scene, await scene.storedInstance(), used);
      await scene.storage.calls.insert(call, undefined, LONG_QUEUE, []);
      scene.equal(await scene.storage.audio.delete(used.id, 6), true);
      const next = storedAudio(scene, { sha256: "c".repeat(64) });
      scene.equal(await insert(scene, next, { maxFiles: 1, now: 9 }), { kind: "at_limit" });
      scene.equal(await insert(scene, next, { maxFiles: 1, now: 10 }), { kind: "created" });
    },
  );

  clause("a forgotten user has no stored files, and their account is deleted only without them", async (scene) => {
    const { audio, logins, retention } = scene.storage;
    const registration = await logins.register(newAccount(scene, "ana@example.com"));
    if (registration.kind !== "registered") throw new Error(registration.kind);
    const { id, userId } = registration.account;
    const files = Array.from({ length: 5 }, (_, i) => storedAudio(scene, { userId, sha256: String(i).repeat(64) }));
    for (const file of files) await insert(scene, file);
    scene.equal(await logins.deleteAccount(id), "not_empty");
    while (await logins.forgetUser(userId, 2));
    scene.equal(await audio.list(userId, 0, {}), []);
    scene.equal(await retention.storedBytes(userId), 0);
    scene.equal(await logins.deleteAccount(id), "deleted");
    scene.equal(await insert(scene, storedAudio(scene, { userId })), { kind: "user_deleted" });
  });
}

type InsertOptions = Partial<typeof LIMITS> & {
  readonly file?: Uint8Array;
  readonly now?: number;
  readonly receipt?: Parameters<StorageScene["storage"]["audio"]["insert"]>[4];
};

function insert(scene: StorageScene, audio: StoredAudio, options: InsertOptions = {}) {
  const { file = FILE, now = 0, receipt, ...limits } = options;
  return scene.storage.audio.insert(audio, file, now, { ...LIMITS, ...limits }, receipt);
}

function storedAudio(scene: StorageScene, patch: Partial<StoredAudio> = {}): StoredAudio {
  return {
    id: scene.id("audio"),
    userId: scene.userId,
    name: null,
    sha256: "a".repeat(64),
    size: FILE.length,
    file: { format: "wav", durationMs: 1_000, truncated: false },
    createdAt: scene.now(),
    expiresAt: null,
    deletedAt: null,
    ...patch,
  };
}

function message({ id, file, sha256 }: StoredAudio) {
  return { type: "FIXED_AUDIO", ...file, sha256, audioId: id } as const;
}

function callWith(
  scene: StorageScene,
  instance: { readonly id: string },
  audio: StoredAudio,
  patch: Partial<Call> = {},
): Call {
  return scene.call(instance, { message: message(audio), ...patch });
}

const TARGET = {
  row: 1,
  phone: "+12025550101",
  phoneKey: "+12025550101",
  zones: "",
  status: "WAITING",
  nextAttemptAt: 1,
  reason: null,
  updatedAt: 1,
} as const;

function batchWith(scene: StorageScene, audio: StoredAudio): Batch {
  return newBatch(scene, { message: { type: "FIXED_AUDIO", audio: message(audio) } });
}
