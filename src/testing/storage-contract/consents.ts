import type { Consent } from "../../domain/dialling-rules/consent.ts";
import { newAccount } from "./accounts/login-records.ts";
import type { Clause, StorageScene } from "./scene.ts";

/** Users' records about the numbers they call. */
export function consentsContract(clause: Clause, persistenceClause: Clause): void {
  persistenceClause("a consent is read back unchanged, by its user and number", async (scene) => {
    const ownConsent = consent(scene, "+12025550101", { source: "form \0 7, signed ☎ '\"" });
    const otherConsent = consent(scene, "+12025550101", { userId: scene.id("usr"), status: "do_not_call" });
    for (const record of [ownConsent, otherConsent])
      scene.equal(await scene.storage.consents.put(record), { created: true, consent: record });
    await scene.reopen();
    const { consents } = scene.storage;
    scene.equal(await consents.get(ownConsent.userId, ownConsent.phone), ownConsent);
    scene.equal(await consents.get(otherConsent.userId, otherConsent.phone), otherConsent);
    scene.equal(await consents.get(ownConsent.userId, "+12025550102"), undefined);
  });

  clause("a consent is replaced completely, except for its creation time", async (scene) => {
    const { consents } = scene.storage;
    const first = consent(scene, "+12025550101", { source: "form 7" });
    const second = consent(scene, "+12025550101", { status: "do_not_call" });
    await consents.put(first);
    const storedConsent = { ...second, createdAt: first.createdAt };
    scene.equal(await consents.put(second), { created: false, consent: storedConsent });
    scene.equal(await consents.get(first.userId, first.phone), storedConsent);
  });

  clause("the consents for several numbers are read together", async (scene) => {
    const { consents } = scene.storage;
    const [first, second, third] = ["+5511987654321", "+551187654321", "+12025550101"].map((phone) =>
      consent(scene, phone),
    );
    if (!first || !second || !third) throw new Error("unreachable");
    const foreignConsent = { ...second, userId: scene.id("usr") };
    for (const record of [first, third, foreignConsent]) await consents.put(record);
    scene.equal(await consents.ofNumbers(first.userId, [second.phone, first.phone]), [first]);
    await consents.put(second);
    const bothConsents = await consents.ofNumbers(first.userId, [first.phone, second.phone]);
    scene.equal(
      bothConsents.toSorted((a, b) => (a.phone < b.phone ? -1 : 1)),
      [second, first],
    );
    scene.equal((await consents.ofNumbers(first.userId, [first.phone, second.phone, third.phone])).length, 3);
    scene.equal(await consents.ofNumbers(first.userId, ["+12025550199"]), []);
  });

  clause("concurrent writes of a consent store it once", async (scene) => {
    const { consents } = scene.storage;
    const attempts = Array.from({ length: 5 }, (_, i) => consent(scene, "+12025550101", { source: `form ${i}` }));
    const results = await Promise.all(attempts.map((record) => consents.put(record)));
    scene.equal(results.filter((result) => typeof result === "object" && result.created).length, 1);
    scene.equal((await consents.list(scene.userId, {}, {})).length, 1);
  });

  clause("a consent is deleted once", async (scene) => {
    const { consents } = scene.storage;
    const [first, second] = [consent(scene, "+12025550101"), consent(scene, "+12025550102")];
    for (const record of [first, second]) await consents.put(record);
    scene.equal(await consents.delete(scene.id("usr"), first.phone), false);
    scene.equal(await consents.delete(first.userId, first.phone), true);
    scene.equal(await consents.delete(first.userId, first.phone), false);
    scene.equal(await consents.list(scene.userId, {}, {}), [second]);
  });

  clause("consents are listed by number, in pages, all or of one status", async (scene) => {
    const { consents } = scene.storage;
    const phones = ["+351912345678", "+12025550101", "+5511987654321", "+12025550102"];
    const allConsents = phones.map((phone, i) => consent(scene, phone, { status: i % 2 ? "do_not_call" : "granted" }));
    for (const record of [...allConsents, consent(scene, "+12025550100", { userId: scene.id("usr") })])
      await consents.put(record);
    const sortedPhones = phones.toSorted();
    const listPhones = async (...args: Parameters<typeof consents.list>) =>
      (await consents.list(...args)).map(({ phone }) => phone);
    scene.equal(await listPhones(scene.userId, {}, {}), sortedPhones);
    scene.equal(await listPhones(scene.userId, {}, { limit: 2 }), sortedPhones.slice(0, 2));
    scene.equal(
      await listPhones(scene.userId, {}, { limit: 2, after: sortedPhones[1] as string }),
      sortedPhones.slice(2),
    );
    scene.equal(await listPhones(scene.userId, { status: "do_not_call" }, {}), ["+12025550101", "+12025550102"]);
    scene.equal(await listPhones(scene.userId, { status: "granted" }, { limit: 5, after: "+351912345678" }), [
      "+5511987654321",
    ]);
  });

  clause("a user never has more consents than allowed, even after concurrent writes", async (scene) => {
    const { consents } = scene.storage;
    await consents.put(consent(scene, "+12025550109", { userId: scene.id("usr") }), 1);
    const records = Array.from({ length: 6 }, (_, i) => consent(scene, `+1202555010${i}`));
    const results = await Promise.all(records.map((record) => consents.put(record, 3)));
    scene.equal(results.filter((result) => result === "at_limit").length, 3);
    const [first] = await consents.list(scene.userId, {}, {});
    if (!first) throw new Error("no consent was stored");
    scene.equal(await consents.put(first, 3), { created: false, consent: first });
    await consents.delete(first.userId, first.phone);
    const next = consent(scene, "+12025550108");
    scene.equal(await consents.put(next, 3), { created: true, consent: next });
  });

  clause("a consent never outlives its user's account", async (scene) => {
    const { consents, logins } = scene.storage;
    for (let i = 0; i < 5; i++) {
      const registration = await logins.register(newAccount(scene, `ana${i}@example.com`));
      if (registration.kind !== "registered") throw new Error(registration.kind);
      const { id, userId } = registration.account;
      const records = Array.from({ length: 4 }, (_, n) => consent(scene, `+1202555010${n}`, { userId }));
      const puts = records.map((record) => consents.put(record, 10));
      const deletion = await logins.deleteAccount(id);
      await Promise.all(puts);
      if (deletion !== "deleted") continue; // the last administrator's
      scene.equal(await consents.list(userId, {}, {}), []);
      scene.equal(await consents.put(consent(scene, "+12025550109", { userId }), 10), "user_deleted");
    }
  });

  clause("a forgotten user has no consents, and neither has the user of a deleted account", async (scene) => {
    const { consents, logins } = scene.storage;
    const otherConsent = consent(scene, "+12025550101", { userId: scene.id("usr") });
    await consents.put(otherConsent);
    for (let i = 0; i < 5; i++) await consents.put(consent(scene, `+1202555010${i}`));
    while (await logins.forgetUser(scene.userId, 2));
    scene.equal(await consents.list(scene.userId, {}, {}), []);

    const registration = await logins.register(newAccount(scene, "ana@example.com"));
    if (registration.kind !== "registered") throw new Error(registration.kind);
    const { id, userId } = registration.account;
    await consents.put(consent(scene, "+12025550101", { userId }));
    scene.equal(await logins.deleteAccount(id), "deleted");
    scene.equal(await consents.list(userId, {}, {}), []);
    scene.equal(await consents.get(otherConsent.userId, otherConsent.phone), otherConsent);
  });
}

function consent(scene: StorageScene, phone: string, patch: Partial<Consent> = {}): Consent {
  const now = scene.now();
  return { userId: scene.userId, phone, status: "granted", source: null, createdAt: now, updatedAt: now, ...patch };
}
