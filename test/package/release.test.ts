import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { VERSION } from "../../src/version.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { mustRun, run } from "./support/run.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const REPOSITORY = "https://git.example/you/ringport";
const json = (path: string) => JSON.parse(readFileSync(join(ROOT, path), "utf8"));

test("the version is the same in every file", () => {
  const lock = json("package-lock.json");
  const versions = [json("package.json").version, json("jsr.json").version, lock.version, lock.packages[""].version];
  expect(versions).toEqual(versions.map(() => VERSION));
});

describe("a release", () => {
  const tree = temporaryFolder("release");
  const git = (...args: readonly string[]) =>
    mustRun(["git", "-c", "user.name=test", "-c", "user.email=test@localhost", ...args], { cwd: tree });
  const packed = temporaryFolder("packed");
  const runDry = (gate: string, ...args: readonly string[]) =>
    run([".ci/release", "--dry-run", ...args], { cwd: tree, env: { GATE: gate, PACK_TO: packed } });
  const release = (gate: string) => runDry(gate, "--repository", REPOSITORY);

  beforeAll(async () => {
    const files = await mustRun(["git", "ls-files", "-co", "--exclude-standard", "-z"], { cwd: ROOT });
    for (const file of files.split("\0").filter(Boolean)) cpSync(join(ROOT, file), join(tree, file));
    symlinkSync(join(dirname(join(ROOT, "package.json")), "node_modules"), join(tree, "node_modules"));
    writeFileSync(join(tree, ".changeset/louder.md"), '---\n"ringport": minor\n---\n\nAdd: a louder bell.\n');
    await git("init", "--quiet", "--initial-branch", "main");
    // node_modules is a link here, which the pattern for folders does not match.
    writeFileSync(join(tree, ".git/info/exclude"), "node_modules\n");
    await git("add", "--all");
    await git("commit", "--quiet", "--message", "a tree");
  });

  test("does all but publishing in a dry run, and restores the tree", async () => {
    const { code, stdout, stderr } = await release("echo the gate was here");
    expect(`${stdout}\n${stderr}\n${code}`).toMatch(/\n0$/);
    const [major, minor] = VERSION.split(".").map(Number);
    const nextVersion = `${major}.${(minor ?? 0) + 1}.0`;
    expect(stdout).toContain("the gate was here");
    expect(stdout).toContain(`dry run: ${nextVersion} would be published`);
    expect(stdout + stderr).toContain(`ringport-${nextVersion}.tgz`);
    // JSR's check covers all types, and refuses types that are slow to check.
    expect(stdout + stderr).toContain("Dry run complete");
    const inTarball = (file: string) =>
      mustRun(["tar", "-xzOf", join(packed, `ringport-${nextVersion}.tgz`), `package/${file}`], { cwd: tree });
    const readme = await inTarball("README.md");
    expect(readme).toContain(`(${REPOSITORY}/blob/v${nextVersion}/docs/quick-start.md)`);
    expect(readme).not.toMatch(/\]\((?!https?:|#)/);
    expect(JSON.parse(await inTarball("package.json"))).toMatchObject({
      repository: { type: "git", url: `git+${REPOSITORY}.git` },
      homepage: `${REPOSITORY}#readme`,
      bugs: { url: `${REPOSITORY}/issues` },
    });
    expect(await git("status", "--porcelain")).toBe("");
    expect(await git("log", "--format=%s")).toBe("a tree\n");
    expect(await git("tag")).toBe("");
  });

  test("requires --repository if package.json names no repository", async () => {
    const { code, stderr } = await runDry("true");
    expect(code).toBe(2);
    expect(stderr).toContain("add --repository URL");
  });

  test.each(["", "git@git.example:you/ringport", "https://git.example/"])(
    "rejects the repository %j",
    async (address) => {
      const { code, stderr } = await runDry("true", "--repository", address);
      expect(code).toBe(2);
      expect(stderr).toContain(`not "${address}"`);
    },
  );

  test("stops if the gate fails", async () => {
    const { code, stdout } = await release("exit 7");
    expect(code).toBe(7);
    expect(stdout).not.toContain("── version");
  });

  test("rejects a tree with changes, and names them", async () => {
    writeFileSync(join(tree, "forgotten.txt"), "");
    const { code, stderr } = await release("true");
    expect(code).toBe(2);
    expect(stderr).toContain("forgotten.txt");
  });
});
