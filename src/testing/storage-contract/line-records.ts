import { mentionedNumber } from "../../domain/numbers/mentioned-number.ts";
import type { Clause, StorageScene } from "./scene.ts";

const MAX_RECORDS = 1_000;

/** The records of lines. */
export function lineRecordsContract(clause: Clause, persistenceClause: Clause): void {
  persistenceClause("records are kept byte for byte, each under its instance and key", async (scene) => {
    const [first, second] = [await scene.storedInstance(), await scene.storedInstance()];
    const allBytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    await put(scene, first.id, { a: allBytes, "é ☎ '\"%_": [1], A: [2] });
    await put(scene, second.id, { a: [3] });
    await scene.reopen();
    const { lineRecords } = scene.storage;
    scene.equal(await lineRecords.get(first.id, ["A", "nothing", "a", "é ☎ '\"%_", "a"]), [
      Uint8Array.of(2),
      undefined,
      allBytes,
      Uint8Array.of(1),
      allBytes,
    ]);
    scene.equal(await lineRecords.get(second.id, ["a"]), [Uint8Array.of(3)]);
    scene.equal(await lineRecords.get(second.id, []), []);
  });

  clause("records are replaced and deleted together", async (scene) => {
    const { id } = await scene.storedInstance();
    await put(scene, id, { a: [1], b: [2], c: [] });
    await put(scene, id, { a: [9], b: undefined, d: [4], missing: undefined });
    const { lineRecords } = scene.storage;
    const records = await lineRecords.get(id, ["a", "b", "c", "d"]);
    scene.equal(records, [Uint8Array.of(9), undefined, new Uint8Array(), Uint8Array.of(4)]);
    await lineRecords.clear(id);
    await lineRecords.clear(id);
    scene.equal(await lineRecords.keys(id, ""), []);
  });

  clause("records are found by the exact prefix of their keys", async (scene) => {
    const { id } = await scene.storedInstance();
    const { lineRecords } = scene.storage;
    const keys = ["a", "a%", "a-1", "a-2", "a_1", "A-1", "b", "\ud7ff", "\ue000", "☎", "\u{10ffff}", "\u{10ffff}x"];
    await put(scene, id, Object.fromEntries(keys.map((key) => [key, [1]])));
    await put(scene, (await scene.storedInstance()).id, { "a-3": [1] });
    scene.equal(await lineRecords.keys(id, "a-"), ["a-1", "a-2"]);
    scene.equal(await lineRecords.keys(id, "a_"), ["a_1"]);
    scene.equal(await lineRecords.keys(id, "a%"), ["a%"]);
    scene.equal(await lineRecords.keys(id, "\ud7ff"), ["\ud7ff"]);
    scene.equal(await lineRecords.keys(id, "\u{10ffff}"), ["\u{10ffff}", "\u{10ffff}x"]);
    scene.equal(await lineRecords.keys(id, "c"), []);
    scene.equal((await lineRecords.keys(id, "")).length, keys.length);
  });

  clause("records whose key mentions a number are forgotten, unless it is their instance's own", async (scene) => {
    const { lineRecords } = scene.storage;
    const phone = "+12025550199";
    const [first, second] = [await scene.storedInstance(), await scene.storedInstance({ phone })];
    const keys = ["s/session/12025550199%7Cs.whatsapp.net%7C0", "s/identity/120255501990%7Cx", "s/auth/1"];
    for (const { id } of [first, second]) await put(scene, id, Object.fromEntries(keys.map((key) => [key, [1]])));
    scene.equal(await lineRecords.forgetNumber(mentionedNumber(phone)), 1);
    scene.equal(await lineRecords.keys(first.id, ""), ["s/auth/1", "s/identity/120255501990%7Cx"]);
    scene.equal((await lineRecords.keys(second.id, "")).length, 3);
    scene.equal(await lineRecords.forgetNumber(mentionedNumber(phone)), 0);
  });

  clause("a write of too many records changes nothing", async (scene) => {
    const { id } = await scene.storedInstance();
    const { lineRecords } = scene.storage;
    await put(scene, id, { a: [1], b: [2] });
    const changes = new Map([
      ["a", Uint8Array.of(9)],
      ["c", Uint8Array.of(3)],
    ]);
    scene.equal(await lineRecords.set(id, changes, 2), false);
    scene.equal(await lineRecords.get(id, ["a", "b", "c"]), [Uint8Array.of(1), Uint8Array.of(2), undefined]);
    scene.equal(await lineRecords.set(id, new Map([...changes, ["b", undefined]]), 2), true);
    scene.equal(await lineRecords.keys(id, ""), ["a", "c"]);
  });

  clause("many records are written and read at once", async (scene) => {
    const { id } = await scene.storedInstance();
    const { lineRecords } = scene.storage;
    const keys = Array.from({ length: MAX_RECORDS }, (_, i) => `key-${String(i).padStart(4, "0")}`);
    const allRecords = new Map(keys.map((key, i) => [key, Uint8Array.of(i % 256)]));
    scene.equal(await lineRecords.set(id, allRecords, MAX_RECORDS), true);
    scene.equal(await lineRecords.keys(id, "key-"), keys);
    scene.equal(await lineRecords.get(id, keys), [...allRecords.values()]);
    scene.equal(await lineRecords.set(id, new Map(keys.map((key) => [key, undefined])), MAX_RECORDS), true);
    scene.equal(await lineRecords.keys(id, ""), []);
  });

  clause("no records are saved for a deleted or unknown instance", async (scene) => {
    const deletedInstance = await scene.storedInstance({ status: "DELETED" });
    for (const id of [deletedInstance.id, scene.id("inst")]) {
      await put(scene, id, { a: [1] });
      scene.equal(await scene.storage.lineRecords.keys(id, ""), []);
    }
  });

  clause("records are erased with their instance's credentials", async (scene) => {
    const { instances, lineRecords } = scene.storage;
    const unlinkedInstance = await scene.storedInstance({ status: "CONFIGURED" });
    const deletedInstance = await scene.storedInstance();
    const erasedInstance = await scene.storedInstance();
    const otherInstance = await scene.storedInstance();
    for (const { id } of [unlinkedInstance, deletedInstance, erasedInstance, otherInstance])
      await put(scene, id, { a: [1] });

    await instances.update(unlinkedInstance.id, 1, { status: "CREATED" }, []);
    scene.equal(await lineRecords.keys(unlinkedInstance.id, ""), []);
    await instances.update(deletedInstance.id, 1, { status: "DELETED" }, []);
    scene.equal(await lineRecords.keys(deletedInstance.id, ""), ["a"]);
    await instances.update(deletedInstance.id, 2, { erasedAt: scene.now() }, []);
    scene.equal(await lineRecords.keys(deletedInstance.id, ""), []);
    await instances.eraseCredentials(erasedInstance.id);
    scene.equal(await lineRecords.keys(erasedInstance.id, ""), []);
    scene.equal(await lineRecords.keys(otherInstance.id, ""), ["a"]);
  });
}

async function put(
  scene: StorageScene,
  instanceId: string,
  records: Readonly<Record<string, ArrayLike<number> | undefined>>,
): Promise<void> {
  const changes = Object.entries(records).map(([key, bytes]) => [key, bytes && Uint8Array.from(bytes)] as const);
  scene.equal(await scene.storage.lineRecords.set(instanceId, new Map(changes), MAX_RECORDS), true);
}
