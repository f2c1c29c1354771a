import { type Clause, idsOf, tokenRecord } from "../scene.ts";
import { storedAccount } from "./login-records.ts";

/** Users and tokens. */
export function accountsContract(clause: Clause): void {
  clause("a user is stored once per name, and later requests return the stored user", async (scene) => {
    const { accounts } = scene.storage;
    const first = { id: scene.id("usr"), name: "Ada", createdAt: scene.now() };
    scene.equal(await accounts.ensureUser(first), first);
    scene.equal(await accounts.ensureUser({ ...first, id: scene.id("usr") }), first);
    scene.equal(await accounts.userByName("Ada"), first);
    scene.equal(await accounts.userByName("Grace"), undefined);
    const second = await accounts.ensureUser({ id: scene.id("usr"), name: "Grace", createdAt: scene.now() });
    scene.equal(await accounts.users(), [first, second]);
    scene.equal(await accounts.users(1), [first]);
  });

  clause("concurrent requests for a new user get the same one", async (scene) => {
    const users = Array.from({ length: 20 }, () => ({ id: scene.id("usr"), name: "Ada", createdAt: scene.now() }));
    const storedUsers = await Promise.all(users.map((user) => scene.storage.accounts.ensureUser(user)));
    scene.equal(new Set(idsOf(storedUsers)).size, 1);
  });

  clause("a token is read by its hash, with all of its fields", async (scene) => {
    const { accounts } = scene.storage;
    const token = tokenRecord(scene, {
      demoInstanceId: scene.id("inst"),
      allowedPrefixes: ["+49", "+1415"],
      maxCallsPerDay: 200,
      scopes: ["read", "call"],
      lastUsedAt: scene.now(),
      expiresAt: scene.now(),
    });
    await accounts.insertToken(token);
    scene.equal(await accounts.tokenByHash(token.hash), token);
    scene.equal(await accounts.tokenByHash("0".repeat(64)), undefined);
  });

  clause("several tokens are read by hash, including revoked tokens", async (scene) => {
    const { accounts } = scene.storage;
    const [activeToken, revokedToken, otherToken] = [tokenRecord(scene), tokenRecord(scene), tokenRecord(scene)];
    for (const token of [activeToken, revokedToken, otherToken]) await accounts.insertToken(token);
    const at = scene.now();
    await accounts.revokeToken(revokedToken.id, at);
    const tokens = await accounts.tokensByHash([revokedToken.hash, "0".repeat(64), activeToken.hash]);
    scene.equal(idsOf(tokens).sort(), [activeToken.id, revokedToken.id].sort());
    scene.equal(tokens.find(({ id }) => id === revokedToken.id)?.revokedAt, at);
    scene.equal(await accounts.tokensByHash([]), []);
  });

  clause("an account's limit applies to its active tokens and, separately, to its revoked tokens", async (scene) => {
    const { accounts } = scene.storage;
    const { id, userId } = await storedAccount(scene);
    const otherToken = tokenRecord(scene, { userId: scene.id("usr"), revokedAt: scene.now() });
    scene.equal(await accounts.insertToken(otherToken), "inserted");
    const newToken = () => tokenRecord(scene, { userId });
    const revokedTokens = [1, 2, 3].map(() => tokenRecord(scene, { userId, revokedAt: scene.now() }));
    for (const token of revokedTokens) await accounts.insertToken(token);
    const [first, second] = [newToken(), newToken()];
    for (const token of [first, second]) scene.equal(await accounts.insertToken(token, { id, most: 2 }), "inserted");
    scene.equal(await accounts.insertToken(newToken(), { id, most: 2 }), "at_limit");
    scene.equal(idsOf(await accounts.tokens(userId)), idsOf([...revokedTokens.slice(1), first, second]));
    scene.equal(idsOf(await accounts.tokens(otherToken.userId)), [otherToken.id]);
  });

  clause("concurrent tokens of an account are stored up to its limit", async (scene) => {
    const { accounts } = scene.storage;
    const { id, userId } = await storedAccount(scene);
    const tokens = Array.from({ length: 20 }, () => tokenRecord(scene, { userId }));
    const results = await Promise.all(tokens.map((token) => accounts.insertToken(token, { id, most: 3 })));
    scene.equal(results.filter((result) => result === "inserted").length, 3);
    scene.equal((await accounts.tokens(userId)).length, 3);
  });

  clause("a hash belongs to one token", async (scene) => {
    const token = tokenRecord(scene);
    await scene.storage.accounts.insertToken(token);
    await scene.failure(scene.storage.accounts.insertToken({ ...tokenRecord(scene), hash: token.hash }));
    scene.equal(await scene.storage.accounts.tokens(), [token]);
  });

  clause("a token is revoked only once", async (scene) => {
    const { accounts } = scene.storage;
    const token = tokenRecord(scene);
    await accounts.insertToken(token);
    const at = scene.now();
    scene.equal(await accounts.revokeToken(token.id, at), true);
    scene.equal(await accounts.revokeToken(token.id, scene.now()), false);
    scene.equal(await accounts.revokeToken(scene.id("tok"), scene.now()), false);
    scene.equal(await accounts.tokenByHash(token.hash), { ...token, revokedAt: at });
  });

  clause("a token's last use is recorded, and an earlier use changes nothing", async (scene) => {
    const { accounts } = scene.storage;
    const token = tokenRecord(scene);
    await accounts.insertToken(token);
    const [earlier, later] = [scene.now(), scene.now()];
    await accounts.markUsed(token.id, later);
    await accounts.markUsed(token.id, earlier);
    await accounts.markUsed(scene.id("tok"), later);
    scene.equal(await accounts.tokenByHash(token.hash), { ...token, lastUsedAt: later });
  });

  clause("tokens of one user or of all users are listed oldest first", async (scene) => {
    const { accounts } = scene.storage;
    const other = scene.id("usr");
    const tokens = [tokenRecord(scene), tokenRecord(scene, { userId: other }), tokenRecord(scene)] as const;
    for (const token of tokens.toReversed()) await accounts.insertToken(token);
    scene.equal(await accounts.tokens(), tokens);
    scene.equal(await accounts.tokens(other), [tokens[1]]);
    scene.equal(await accounts.tokens(scene.id("usr")), []);
  });
}
