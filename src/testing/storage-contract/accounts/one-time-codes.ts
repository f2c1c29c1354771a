import type { CodeRecord } from "../../../ports/storage.ts";
import { type Clause, idsOf } from "../scene.ts";
import { codeRecord, newAccount, storedAccount, storedCode } from "./login-records.ts";

const MAX_CODES = 100;

/** One-time codes. */
export function oneTimeCodesContract(clause: Clause): void {
  clause("a first-start code replaces the previous one, until there is an administrator", async (scene) => {
    const { logins } = scene.storage;
    const previousCode = await storedCode(scene, "first");
    const code = await storedCode(scene, "first");
    scene.equal(await logins.codeByHash(previousCode.hash), undefined);
    scene.equal(await logins.codeByHash(code.hash), code);
    const usedCode = { hash: code.hash, purpose: "first", now: scene.now() } as const;
    const admin = newAccount(scene, "ana@example.com", { role: "admin", code: usedCode });
    scene.equal((await logins.register(admin)).kind, "registered");
    scene.equal(await logins.codeByHash(code.hash), undefined);
    scene.equal(await logins.insertCode(codeRecord(scene, "first"), MAX_CODES), false);
  });

  clause("concurrent first starts leave one code", async (scene) => {
    const { logins } = scene.storage;
    const codes = Array.from({ length: 10 }, () => codeRecord(scene, "first"));
    scene.equal(
      await Promise.all(codes.map((code) => logins.insertCode(code, MAX_CODES))),
      codes.map(() => true),
    );
    const remainingCodes = await Promise.all(codes.map(({ hash }) => logins.codeByHash(hash)));
    scene.equal(remainingCodes.filter((code) => code !== undefined).length, 1);
  });

  clause("a reset code replaces the same account's previous one", async (scene) => {
    const [ana, bob] = [await storedAccount(scene), await storedAccount(scene, "bob@example.com")];
    const { logins } = scene.storage;
    const previousCode = await storedCode(scene, "reset", { accountId: ana.id });
    const otherCode = await storedCode(scene, "reset", { accountId: bob.id });
    const code = await storedCode(scene, "reset", { accountId: ana.id });
    scene.equal(await logins.codeByHash(previousCode.hash), undefined);
    scene.equal(await logins.codeByHash(otherCode.hash), otherCode);
    scene.equal(await logins.codeByHash(code.hash), code);
  });

  clause("invitations are listed newest first, and withdrawn once", async (scene) => {
    const { logins } = scene.storage;
    const account = await storedAccount(scene);
    const [first, second] = [await storedCode(scene, "invitation"), await storedCode(scene, "invitation")];
    const resetCode = await storedCode(scene, "reset", { accountId: account.id });
    scene.equal(await logins.invitations(), [second, first]);
    scene.equal(await logins.deleteInvitation(first.id), true);
    scene.equal(await logins.deleteInvitation(first.id), false);
    scene.equal(await logins.deleteInvitation(resetCode.id), false);
    scene.equal(await logins.invitations(), [second]);
  });

  clause("an invitation beyond the limit is not stored; expired ones do not count", async (scene) => {
    const { logins } = scene.storage;
    const { id: accountId } = await storedAccount(scene);
    const expiredCode = await storedCode(scene, "invitation", { accountId, expiresAt: scene.now() });
    await storedCode(scene, "reset", { accountId });
    const [first, second, third] = [1, 2, 3].map(() => codeRecord(scene, "invitation", { accountId }));
    scene.equal(await logins.insertCode(first as CodeRecord, 2), true);
    scene.equal(await logins.insertCode(second as CodeRecord, 2), true);
    scene.equal(await logins.insertCode(third as CodeRecord, 2), false);
    scene.equal(await logins.insertCode(codeRecord(scene, "reset", { accountId }), 2), true);
    scene.equal(idsOf(await logins.invitations()), idsOf([second as CodeRecord, first as CodeRecord, expiredCode]));
    await logins.deleteInvitation(first?.id ?? "");
    scene.equal(await logins.insertCode(third as CodeRecord, 2), true);
  });

  clause("concurrent invitations are stored up to the limit", async (scene) => {
    const { logins } = scene.storage;
    const { id: accountId } = await storedAccount(scene);
    const codes = Array.from({ length: 20 }, () => codeRecord(scene, "invitation", { accountId }));
    const results = await Promise.all(codes.map((code) => logins.insertCode(code, 3)));
    scene.equal(results.filter(Boolean).length, 3);
    scene.equal((await logins.invitations()).length, 3);
  });
}
