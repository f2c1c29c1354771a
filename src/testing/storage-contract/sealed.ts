import { SEALED_KINDS, type SealedKind, type SealedPlace, type SealedValue } from "../../ports/storage.ts";
import type { Clause, StorageScene } from "./scene.ts";
import { webhook } from "./webhooks.ts";

/** Clauses about sealed records, which are replaced when the key changes. */
export function sealedContract(clause: Clause): void {
  clause("every sealed value is listed once, by its kind, in pages", async (scene) => {
    const values = await storedValues(scene);
    for (const kind of SEALED_KINDS) {
      const expected = values[kind];
      scene.equal(await scene.storage.sealed.list(kind, 100), expected);
      const pagedValues: SealedValue[] = [];
      for (let after: SealedPlace | undefined; ; ) {
        const page = await scene.storage.sealed.list(kind, 2, after);
        pagedValues.push(...page);
        after = page.at(-1);
        if (page.length < 2) break;
      }
      scene.equal(pagedValues, expected);
    }
  });

  clause("a sealed value is replaced in place, and no other value changes", async (scene) => {
    const { sealed, instances, lineRecords, webhooks } = scene.storage;
    const values = await storedValues(scene);
    for (const kind of SEALED_KINDS) {
      const value = values[kind][0] as SealedValue;
      scene.equal(await sealed.replace(kind, value, Uint8Array.of(99)), true);
      scene.equal(await sealed.list(kind, 100), [{ ...value, sealed: Uint8Array.of(99) }, ...values[kind].slice(1)]);
    }
    const id = values.credentials[0]?.id ?? "";
    scene.equal(await instances.loadCredentials(id), Uint8Array.of(99));
    scene.equal(await lineRecords.get(id, ["a", "b"]), [Uint8Array.of(99), Uint8Array.of(2)]);
    const hook = await webhooks.get(values.webhook_key[0]?.id ?? "");
    scene.equal([hook?.version, hook?.sealedKey], [1, Uint8Array.of(99)]);
  });

  clause("a sealed value that has changed, or was deleted, is not replaced", async (scene) => {
    const { sealed, instances, lineRecords } = scene.storage;
    const values = await storedValues(scene);
    const [credentials, record] = [values.credentials[0] as SealedValue, values.line_record[0] as SealedValue];
    await instances.saveCredentials(credentials.id, Uint8Array.of(7));
    await lineRecords.clear(record.id);
    scene.equal(await sealed.replace("credentials", credentials, Uint8Array.of(99)), false);
    scene.equal(await sealed.replace("line_record", record, Uint8Array.of(99)), false);
    scene.equal(await instances.loadCredentials(credentials.id), Uint8Array.of(7));
    scene.equal(await lineRecords.keys(record.id, ""), []);
  });
}

/** Two instances with credentials and records, and two webhooks, one of them with an old key. */
async function storedValues(scene: StorageScene): Promise<Record<SealedKind, SealedValue[]>> {
  const { instances, lineRecords, webhooks } = scene.storage;
  const values: Record<SealedKind, SealedValue[]> = {
    credentials: [],
    line_record: [],
    webhook_key: [],
    webhook_old_key: [],
    webhook_headers: [],
  };
  for (let i = 0; i < 2; i++) {
    const { id } = await scene.storedInstance();
    await instances.saveCredentials(id, Uint8Array.of(i));
    values.credentials.push({ id, key: "", sealed: Uint8Array.of(i) });
    const records = { a: Uint8Array.of(1, i), b: Uint8Array.of(2) };
    await lineRecords.set(id, new Map(Object.entries(records)), 10);
    values.line_record.push({ id, key: "a", sealed: records.a }, { id, key: "b", sealed: records.b });
    const hook = webhook(scene, {
      sealedKey: Uint8Array.of(3, i),
      sealedOldKey: i ? null : Uint8Array.of(4),
      sealedHeaders: i ? Uint8Array.of(5) : null,
    });
    await webhooks.insert(hook, 10);
    values.webhook_key.push({ id: hook.id, key: "", sealed: hook.sealedKey });
    if (hook.sealedHeaders) values.webhook_headers.push({ id: hook.id, key: "", sealed: hook.sealedHeaders });
    if (hook.sealedOldKey) values.webhook_old_key.push({ id: hook.id, key: "", sealed: hook.sealedOldKey });
  }
  return values;
}
