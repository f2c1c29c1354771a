import { SINGLE_POLICY } from "../../domain/instances/queue-capacity.ts";
import type { Insertion } from "../../ports/storage.ts";
import { type Clause, LONG_QUEUE, type StorageScene } from "./scene.ts";

/** The limit of calls that a token may create within a period. */
export function callQuotaContract(clause: Clause, persistenceClause: Clause): void {
  clause("a token creates calls up to its quota; the refusal states the time of the oldest call", async (scene) => {
    const token = await tokenScene(scene);
    const first = await token.createdCall(2);
    const second = await token.createdCall(2);
    scene.equal(await token.create(2), { kind: "limited", oldestAt: first.createdAt });
    scene.equal((await token.create(3)).kind, "created");
    scene.equal(await token.create(2), { kind: "limited", oldestAt: second.createdAt });
    scene.equal((await token.create(undefined)).kind, "created");
  });

  clause("calls of other tokens, and calls without a token, do not count", async (scene) => {
    const [token, other, tokenlessScene] = [
      await tokenScene(scene),
      await tokenScene(scene),
      await tokenScene(scene, null),
    ];
    await token.createdCall(1);
    await other.createdCall(1);
    for (let n = 0; n < 3; n++) await tokenlessScene.createdCall(1);
    scene.equal((await token.create(1)).kind, "limited");
    scene.equal((await other.create(1)).kind, "limited");
  });

  clause("a call over the quota stores nothing, and its slot stays free", async (scene) => {
    const token = await tokenScene(scene);
    const { id } = await token.createdCall(1);
    const excessCall = scene.call(token.instance, { tokenId: token.id });
    const quota = { maxCalls: 1, since: 0 };
    const event = scene.event("queued", excessCall);
    const receipt = { ...scene.key("k"), fingerprint: "body", begunAt: scene.now(), expiredBefore: 0 };
    const insertion = await scene.storage.calls.insert(
      excessCall,
      Uint8Array.of(1),
      LONG_QUEUE,
      [event],
      receipt,
      quota,
    );
    scene.equal(insertion.kind, "limited");
    scene.equal(await scene.storage.calls.get(excessCall.id), undefined);
    scene.equal(await scene.storage.calls.audio(excessCall.id), undefined);
    scene.equal(await scene.timeline(excessCall.id), []);
    scene.equal(await scene.storage.receipts.find(receipt, 0), undefined);
    scene.equal((await scene.storedCall(token.instance)).slot, 1);
    scene.equal((await scene.storage.calls.get(id))?.tokenId, token.id);
  });

  clause("a call keeps its caller from creation", async (scene) => {
    const instance = await scene.storedInstance();
    const from = { phoneNumber: "+12025550101", displayName: "Desk", withheld: true };
    const call = scene.call(instance, { from });
    await scene.storage.calls.insert(call, undefined, { kind: "single" }, []);
    scene.equal((await scene.storage.calls.get(call.id))?.from, from);
  });

  clause("a call keeps the prefixes of the token that created it", async (scene) => {
    const { instance } = await tokenScene(scene);
    const call = scene.call(instance, { allowedPrefixes: ["+49", "+1415"] });
    await scene.storage.calls.insert(call, undefined, SINGLE_POLICY, []);
    scene.equal((await scene.storage.calls.get(call.id))?.allowedPrefixes, ["+49", "+1415"]);
  });

  clause("an existing active call is returned even if the quota is used up", async (scene) => {
    const token = await tokenScene(scene);
    const activeCall = await token.createdCall(1);
    const nextCall = scene.call(token.instance, { tokenId: token.id });
    const insertion = await scene.storage.calls.insert(nextCall, undefined, SINGLE_POLICY, [], undefined, {
      maxCalls: 1,
      since: 0,
    });
    scene.equal(insertion, { kind: "existing", call: activeCall });
  });

  clause("40 concurrent creations with one token on 40 instances create exactly its quota of calls", async (scene) => {
    const { id: tokenId } = await tokenScene(scene);
    const instances = [];
    for (let n = 0; n < 40; n++) instances.push(await scene.storedInstance());
    const insertions = await Promise.all(
      instances.map((instance) => {
        const quota = { maxCalls: 7, since: 0 };
        const call = scene.call(instance, { tokenId });
        return scene.storage.calls.insert(call, undefined, SINGLE_POLICY, [], undefined, quota);
      }),
    );
    scene.equal(insertions.filter(({ kind }) => kind === "created").length, 7);
    scene.equal(insertions.filter(({ kind }) => kind === "limited").length, 33);
  });

  clause("calls outside the quota's period do not count", async (scene) => {
    const token = await tokenScene(scene);
    const first = await token.createdCall(1);
    scene.equal((await token.create(1, first.createdAt - 1)).kind, "limited");
    scene.equal((await token.create(1, first.createdAt)).kind, "created");
  });

  clause(
    "calls are counted by the quota's clock, and calls from the future are moved to the present",
    async (scene) => {
      const token = await tokenScene(scene);
      const createAt = (now: number) => {
        const call = scene.call(token.instance, { tokenId: token.id });
        return scene.storage.calls.insert(call, undefined, LONG_QUEUE, [], undefined, { maxCalls: 2, since: 0, now });
      };
      scene.equal((await createAt(9_000)).kind, "created");
      scene.equal(await scene.storage.calls.countTransfer(token.id ?? "", 9_000, { maxCalls: 2, since: 0 }), undefined);
      scene.equal(await createAt(1_000), { kind: "limited", oldestAt: 1_000 });
      scene.equal(await createAt(2_000), { kind: "limited", oldestAt: 1_000 });
    },
  );

  clause("a deleted call still counts for its token if it was counted after a given time", async (scene) => {
    const token = await tokenScene(scene);
    const { calls } = scene.storage;
    const oldCall = await scene.endedCall(token.instance, { tokenId: token.id });
    const recentCall = await scene.endedCall(token.instance, { tokenId: token.id });
    await calls.remove([oldCall.id, recentCall.id], oldCall.createdAt);
    scene.equal(await token.create(1), { kind: "limited", oldestAt: recentCall.createdAt });
    scene.equal((await token.create(1, recentCall.createdAt)).kind, "created");
    scene.equal(await token.create(2), { kind: "limited", oldestAt: recentCall.createdAt });
  });

  clause("a permanently deleted call no longer counts", async (scene) => {
    const token = await tokenScene(scene);
    const endedCall = await scene.endedCall(token.instance, { tokenId: token.id });
    await scene.storage.calls.remove([endedCall.id]);
    scene.equal((await token.create(1)).kind, "created");
  });

  clause("a transfer counts as a call, and is refused beyond the quota", async (scene) => {
    const token = await tokenScene(scene, scene.id("tok"));
    const { calls } = scene.storage;
    const first = await token.createdCall(3);
    const transfer = (maxCalls: number) =>
      calls.countTransfer(token.id ?? "", first.createdAt + 1, { maxCalls, since: 0 });
    scene.equal(await transfer(1), first.createdAt);
    scene.equal(await Promise.all([transfer(2), transfer(2)]).then((results) => results.sort()), [
      first.createdAt,
      undefined,
    ]);
    scene.equal(await token.create(2), { kind: "limited", oldestAt: first.createdAt });
    scene.equal(await transfer(Infinity), undefined);
    scene.equal((await token.create(3)).kind, "limited");
    scene.equal((await token.create(4)).kind, "created");
  });

  clause("deleted calls and transfers are forgotten up to a given time; later ones still count", async (scene) => {
    const token = await tokenScene(scene);
    const { calls } = scene.storage;
    const oldCall = await scene.endedCall(token.instance, { tokenId: token.id });
    const lastCall = await scene.endedCall(token.instance, { tokenId: token.id });
    await calls.remove([oldCall.id, lastCall.id], 0);
    const at = scene.now();
    await calls.countTransfer(token.id ?? "", at, { maxCalls: Infinity, since: 0 });
    scene.equal(await calls.forgetCounted(lastCall.createdAt), 2);
    scene.equal(await token.create(1), { kind: "limited", oldestAt: at });
    scene.equal(await calls.forgetCounted(at), 1);
    scene.equal((await token.create(1)).kind, "created");
  });

  clause("a call keeps the limit of the token that created it", async (scene) => {
    const { instance } = await tokenScene(scene);
    const call = scene.call(instance, { maxCallsPerDay: 200 });
    await scene.storage.calls.insert(call, undefined, SINGLE_POLICY, []);
    scene.equal((await scene.storage.calls.get(call.id))?.maxCallsPerDay, 200);
  });

  persistenceClause("a token's count outlives the process", async (scene) => {
    const token = await tokenScene(scene);
    const endedCall = await scene.endedCall(token.instance, { tokenId: token.id });
    await token.createdCall(2);
    await scene.storage.calls.remove([endedCall.id], 0);
    await scene.reopen();
    scene.equal(await token.create(2), { kind: "limited", oldestAt: endedCall.createdAt });
  });
}

/** A token with an instance to call from. */
async function tokenScene(scene: StorageScene, id: string | null = scene.id("tok")) {
  const instance = await scene.storedInstance();
  const create = (maxCalls: number | undefined, since = 0): Promise<Insertion> => {
    const quota = maxCalls === undefined ? undefined : { maxCalls, since };
    const call = scene.call(instance, { tokenId: id });
    return scene.storage.calls.insert(call, undefined, LONG_QUEUE, [], undefined, quota);
  };
  async function createdCall(maxCalls: number) {
    const insertion = await create(maxCalls);
    if (insertion.kind !== "created") throw new Error(`the call was not created: ${insertion.kind}`);
    return insertion.call;
  }
  return { id, instance, create, createdCall };
}
