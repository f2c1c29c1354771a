import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import {
  type ArchiveFormat,
  archiveOf,
  DUO_MODEL,
  FLUTE,
  fileEntry,
  modelEntries,
  RECOGNISER,
} from "../../support/archives.ts";
import { startProxy } from "../../support/http-proxy.ts";
import { ReleaseServer, sha256 } from "../../support/model-releases.ts";
import { ENGINE_FOLDER } from "../../support/neural.ts";
import { type Runtime, runtimes } from "../../support/runtimes.ts";
import { freshFolder, launch, node, run } from "./run-cli.ts";

const FABER = "vits-piper-pt_BR-faber-medium";
const NEMOTRON = "sherpa-onnx-nemotron-3.5-asr-streaming-0.6b-560ms-int8-2026-06-11";
const PROGRAM = fileURLToPath(new URL("../../support/add-models.ts", import.meta.url));
const UNKNOWN_LICENCE = "  licence  unknown (read its MODEL_CARD)";
const HINTS = /^(Hear it|Transcribe|The engine|Models are|Engine:).*\n/gm;

async function saveArchive(model: string, format: ArchiveFormat, entries = modelEntries(model)): Promise<string> {
  const path = join(freshFolder(), `${model}.${format}`);
  writeFileSync(path, await archiveOf(entries, format));
  return path;
}

/** A folder for data, and commands that use it. */
function createDataFolder() {
  const data = freshFolder();
  const models = join(data, "models");
  const cli = (...words: readonly string[]) => run(["models", ...words], { RINGPORT_DATA: data });
  return { data, models, cli };
}

describe.skipIf(node.missing)(`ringport models on ${node.title}`, { timeout: 60_000 }, () => {
  test("lists known models with their ids, sizes and licences, before any is installed", async () => {
    const { models, cli } = createDataFolder();
    const { code, stdout, stderr } = await cli();
    const rows = stdout.split("\n").map((row) => row.split("\t"));
    expect(code).toBe(0);
    expect(rows).toContainEqual([FABER, "pt-BR", "available", "pt-BR-20", "about 63 MB", "about 330 MB", "unknown"]);
    expect(rows).toContainEqual([
      NEMOTRON,
      "pt,es,en",
      "available",
      "(transcribes)",
      "about 650 MB",
      "about 1200 MB",
      "unknown",
    ]);
    expect(stderr).toContain(`Models are in ${models}, which has none yet`);
    expect(stderr).toMatch(
      /Engine: sherpa-onnx \(Apache-2\.0; .* GPL-3\); run: npm install --prefix \.\/data sherpa-onnx-node/,
    );
    expect(existsSync(models)).toBe(false);
    expect(await cli("list")).toEqual({ code, stdout, stderr });
  });

  test("lists installed models, including unknown and broken ones, with assigned ids", async () => {
    const { data, models, cli } = createDataFolder();
    await cli("add", "--from", await saveArchive(DUO_MODEL, "tar.gz"), await saveArchive(RECOGNISER, "tar"));
    mkdirSync(join(models, FABER));
    writeFileSync(join(models, FABER, "pt_BR-faber-medium.onnx"), "<html>");
    writeFileSync(join(models, DUO_MODEL, "MODEL_CARD"), "# Card\n* License: CC0\n");
    const env = { RINGPORT_DATA: data, RINGPORT_SPEECH_MODEL_VOICES: `{"en-GB-30":{"model":"${DUO_MODEL}"}}` };
    const { stdout } = await launch(["models", "--installed", "--json"], { env, cwd: ENGINE_FOLDER }).finished;
    const list = JSON.parse(stdout);
    expect(list).toMatchObject({ folder: models, fault: null, engine: { licence: expect.stringContaining("GPL-3") } });
    expect(list.models).toEqual([
      expect.objectContaining({
        name: FABER,
        state: "broken",
        known: true,
        voices: [],
        reason: expect.stringMatching(/not an ONNX file/),
      }),
      expect.objectContaining({ name: RECOGNISER, state: "installed", job: "recogniser", known: false, voices: [] }),
      expect.objectContaining({
        name: DUO_MODEL,
        languages: ["en-GB", "en-US"],
        voices: ["en-GB-30", "en-US-50", "en-US-51"],
        licence: "CC0",
      }),
    ]);
    expect((await cli()).stderr).toMatch(new RegExp(`^${FABER} cannot be used: .*not an ONNX file`, "m"));
    expect((await cli("add", "pt-BR", "--yes")).stderr).toMatch(
      /cannot be used: .*not an ONNX file.*; --force replaces it/,
    );
    rmSync(join(models, FABER, "pt_BR-faber-medium.onnx"));
    expect((await cli("add", "pt-BR", "--yes")).stderr).toMatch(/it has no model files; --force replaces it/);
  });

  test("lists the size of an installed model, and refuses a file as its folder", async () => {
    const { models, cli } = createDataFolder();
    await cli("add", "--from", await saveArchive(FLUTE, "tar"));
    const row = (await cli()).stdout.split("\n").find((line) => line.startsWith(FLUTE));
    expect(row?.split("\t")[4]).toMatch(/^\d+\.\d MB$/);
    const file = join(models, FLUTE, "tokens.txt");
    const { code, stdout, stderr } = await cli("--speech-models", file);
    expect([code, stdout, stderr]).toEqual([
      2,
      "",
      `ringport: the model folder ${file} is a file; choose another one with RINGPORT_SPEECH_MODELS\n`,
    ]);
  });

  test("names the file that contains a model's licence", async () => {
    const { models, cli } = createDataFolder();
    const archive = await saveArchive(FLUTE, "tar");
    await cli("add", "--from", archive);
    rmSync(join(models, FLUTE, "MODEL_CARD"));
    expect((await cli("add", "--from", archive)).stdout).toContain("  licence  unknown (ask its publisher)\n");
    writeFileSync(join(models, FLUTE, "README.md"), "# Flute\n");
    expect((await cli("add", "--from", archive)).stdout).toContain("  licence  unknown (read its README.md)\n");
  });

  test("uses the folder from the server's settings", async () => {
    const { data, cli } = createDataFolder();
    const otherFolder = join(freshFolder(), "deep", "voices");
    await cli("add", "--speech-models", otherFolder, "--from", await saveArchive(FLUTE, "tar"));
    expect(readdirSync(otherFolder)).toContain(FLUTE);
    await cli("add", "--speech-models", "voices", "--from", await saveArchive(FLUTE, "tar"));
    expect(readdirSync(join(data, "voices"))).toContain(FLUTE);
  });

  test("adds archives, prints their ids, and keeps models that are added again", async () => {
    const { models, cli } = createDataFolder();
    const archivePaths = [
      await saveArchive(FLUTE, "tar.bz2"),
      await saveArchive(DUO_MODEL, "tar.gz"),
      await saveArchive(RECOGNISER, "tar"),
    ];
    const first = await cli("add", "--from", ...archivePaths);
    expect(first.stdout).toBe(
      [
        `${FLUTE} is installed in ${models}\n  voices   pt-BR-50\n${UNKNOWN_LICENCE}`,
        `${DUO_MODEL} is installed in ${models}\n  voices   en-US-50, en-US-51\n${UNKNOWN_LICENCE}`,
        `${RECOGNISER} is installed in ${models}\n  licence  unknown (ask its publisher)\n`,
      ].join("\n"),
    );
    expect(first.stderr).toContain("Hear it from a running server: ringport voices --play pt-BR-50");
    expect(first.stderr).toContain(
      "Transcribe agents and streams with it: RINGPORT_TRANSCRIPTION_ENGINE=local RINGPORT_STREAM_PREVIEW=1 ringport serve\n",
    );
    expect(first.stderr).toMatch(/The engine is missing; run: npm install/);
    const secondRun = await cli("add", "--from", archivePaths[0]!);
    expect([secondRun.code, secondRun.stdout]).toEqual([
      0,
      `${FLUTE} is already installed; --force replaces it\n  voices   pt-BR-50\n${UNKNOWN_LICENCE}\n`,
    ]);
    expect(secondRun.stderr).toMatch(/The engine is missing; run: npm install/);
    const forcedRun = await cli("add", "--force", "--json", "--from", archivePaths[0]!);
    expect(JSON.parse(forcedRun.stdout)).toEqual({
      folder: models,
      added: [{ name: FLUTE, job: "voice", voices: ["pt-BR-50"], licence: null, is_new: true }],
    });
    expect(forcedRun.stderr).toBe("");
  });

  test("removes models, and suggests a name for an unknown one", async () => {
    const { models, cli } = createDataFolder();
    await cli("add", "--from", await saveArchive(FLUTE, "tar"), await saveArchive(DUO_MODEL, "tar"));
    const wrongName = await cli("remove", `${FLUTE}s`);
    expect([wrongName.code, wrongName.stderr]).toEqual([2, expect.stringContaining(`(did you mean ${FLUTE}?)`)]);
    for (const name of ["..", ".", "voice-ids.json", "../models"]) expect((await cli("remove", name)).code).toBe(2);
    expect(await cli("remove", FLUTE, DUO_MODEL)).toEqual({
      code: 0,
      stdout: `${FLUTE} is removed\n${DUO_MODEL} is removed\n`,
      stderr: "",
    });
    expect(readdirSync(models)).toEqual(["voice-ids.json"]);
  });

  test("each mistake prints its fix, exits with 2 and leaves no files", async () => {
    const { models, cli } = createDataFolder();
    const goodArchive = await saveArchive(FLUTE, "tar");
    const truncatedArchive = join(freshFolder(), "cut.tar.bz2");
    writeFileSync(truncatedArchive, (await archiveOf(modelEntries(FLUTE), "tar.bz2")).subarray(0, 3_000));
    const traversalArchive = await saveArchive("evil", "tar.gz", [
      ...modelEntries(FLUTE),
      fileEntry(`${FLUTE}/../../evil`),
    ]);
    const page = join(freshFolder(), "page.tar.bz2");
    writeFileSync(page, "<html>");
    const mistakes: readonly (readonly [RegExp, readonly string[]])[] = [
      [/needs a language or a model: ringport models add en\|/, []],
      [/no known model speaks "xx": there are en, en-US/, ["xx"]],
      [/"vits" is neither a language nor a model; languages are written like en, en-US/, ["vits"]],
      [/did you mean vits-piper-pt_BR-faber-medium\?/, ["its-piper-pt_BR-faber-medium"]],
      [/must be accepted: add --yes/, ["pt-BR"]],
      [/there is no such file/, ["--from", "missing.tar.bz2"]],
      [/it is a folder/, ["--from", models]],
      [/cut\.tar\.bz2 is not installed: .* cut short; .*download or copy it again/, ["--from", truncatedArchive]],
      [/leads out of its folder/, ["--from", traversalArchive]],
      [/not a \.tar\.bz2, \.tar\.gz or \.tar archive/, ["--from", page]],
      [/--sha256 is "abc": it must be 64/, ["--from", goodArchive, "--sha256", "abc"]],
      [
        /--sha256 is for one archive, and there are 2/,
        ["--from", goodArchive, goodArchive, "--sha256", "0".repeat(64)],
      ],
      [/is [0-9a-f]{64}, but must be 0{64}/, ["--from", goodArchive, "--sha256", "0".repeat(64)]],
      [/--all has no meaning with --from/, ["--from", goodArchive, "--all"]],
    ];
    mkdirSync(models);
    for (const [message, words] of mistakes) {
      const { code, stdout, stderr } = await cli("add", ...words);
      expect([code, stdout, stderr.split("\n").at(-2)], words.join(" ")).toEqual([
        2,
        "",
        expect.stringMatching(message),
      ]);
      expect(stderr.match(/^ringport: /gm)).toHaveLength(1);
    }
    expect(readdirSync(models)).toEqual([]);
    const blockedRun = await run(["models", "add", "--from", goodArchive], { RINGPORT_DATA: goodArchive });
    expect([blockedRun.code, blockedRun.stderr]).toEqual([
      2,
      expect.stringMatching(/the model folder .* cannot be used: .*RINGPORT_SPEECH_MODELS/),
    ]);
  });

  test("languages, names, installed models and files are completed", async () => {
    const { data, cli } = createDataFolder();
    await cli("add", "--from", await saveArchive(FLUTE, "tar"));
    const completions = async (...words: readonly string[]) =>
      (await run(["__complete", "models", ...words], { RINGPORT_DATA: data })).stdout
        .split("\n")
        .map((row) => row.split("\t")[0]);
    expect(await completions("")).toEqual(["list", "add", "remove", ""]);
    expect(await completions("add", "pt")).toEqual(["pt", "pt-BR", ""]);
    expect(await completions("add", "pt", "vits-piper-es_M")).toEqual([
      "vits-piper-es_MX-claude-high",
      "vits-piper-es_MX-ald-medium",
      "",
    ]);
    expect(await completions("remove", "")).toEqual([FLUTE, ""]);
    expect(await completions("remove", FLUTE, "v")).toEqual([FLUTE, ""]);
    expect(await completions("add", "--from", "")).toEqual([":files", ""]);
    expect(await completions("add", "--from", "a.tar", "")).toEqual([":files", ""]);
  });
});

/** `ringport models add` with the releases on a test server. */
function modelInstaller(
  runtime: Runtime,
  releases: ReleaseServer,
  data: string,
  env: Readonly<Record<string, string>> = {},
) {
  return (words: readonly string[], answer = "-", origin = releases.origin) =>
    launch([origin, answer, ...words], { runtime, program: PROGRAM, env: { RINGPORT_DATA: data, ...env } }).finished;
}

for (const runtime of runtimes.filter(({ name }) => name !== "node22"))
  describe.skipIf(runtime.missing)(
    `ringport models add from a release on ${runtime.title}`,
    { timeout: 60_000 },
    () => {
      const publishReleases = async () => {
        const releases = await ReleaseServer.start();
        releases.publish("tts-models", `${FABER}.tar.bz2`, await archiveOf(modelEntries(FLUTE, FABER), "tar.bz2"));
        releases.publish(
          "asr-models",
          `${NEMOTRON}.tar.bz2`,
          await archiveOf(modelEntries(RECOGNISER, NEMOTRON), "tar.bz2"),
        );
        const data = freshFolder();
        return { releases, data, models: join(data, "models"), add: modelInstaller(runtime, releases, data) };
      };

      test("asks once to accept the licences, and installs the recommended voice under its id", async () => {
        const { releases, models, add } = await publishReleases();
        const refusal = await add(["pt-BR"], "n");
        expect([refusal.code, existsSync(models)]).toEqual([2, false]);
        expect(refusal.stderr).toContain("not accepted");
        const { code, stdout, stderr } = await add(["pt-BR"], "y");
        expect([code, stdout]).toEqual([
          0,
          `${FABER} is installed in ${models}\n  voices   pt-BR-20\n${UNKNOWN_LICENCE}\n`,
        ]);
        expect(stderr).toMatch(new RegExp(`${FABER} +download about 63 MB +memory about 330 MB +licence unknown`));
        expect(stderr).toContain("engine: sherpa-onnx, Apache-2.0; its packages contain eSpeak NG, GPL-3");
        expect(stderr).toContain("Do you accept the licences of the engine? [y/N] y");
        expect(readdirSync(models)).toEqual([FABER]);
        const before = releases.requests.length;
        const secondRun = await add(["pt-BR"]);
        expect([secondRun.code, secondRun.stdout]).toEqual([
          0,
          `${FABER} is already installed; --force replaces it\n  voices   pt-BR-20\n${UNKNOWN_LICENCE}\n`,
        ]);
        expect(releases.requests).toHaveLength(before);
      });

      test("a language without a region also installs its recogniser", async () => {
        const { models, add } = await publishReleases();
        // The archive here contains a CTC model, which cannot be used under this name.
        const { code, stderr } = await add(["pt", "--yes", "--json"]);
        expect([code, JSON.parse(stderr.split("\n").at(-2)!).detail]).toEqual([
          1,
          expect.stringContaining(`the model ${NEMOTRON} cannot be used`),
        ]);
        expect(readdirSync(models)).toEqual([FABER]);
      });

      test("a wrong or missing checksum prevents the installation, unless --sha256 is correct", async () => {
        const { releases, models, add } = await publishReleases();
        const archive = releases.files.get(`tts-models/${FABER}.tar.bz2`)!;
        releases.files.set(`tts-models/${FABER}.tar.bz2`, archive.subarray(0, archive.length - 1));
        const wrongChecksum = await add(["pt-BR", "--yes"]);
        expect([wrongChecksum.code, wrongChecksum.stderr]).toEqual([
          1,
          expect.stringMatching(/the SHA-256 of .* must be [0-9a-f]{64}/),
        ]);
        releases.files.set(`tts-models/${FABER}.tar.bz2`, archive);
        releases.files.delete("tts-models/checksum.txt");
        const noChecksum = await add(["pt-BR", "--yes"]);
        expect([noChecksum.code, noChecksum.stderr]).toEqual([
          1,
          expect.stringMatching(/no checksum of .* is available/),
        ]);
        expect(readdirSync(models)).toEqual([]);
        expect((await add([FABER, "--yes", "--sha256", sha256(archive).toUpperCase()])).code).toBe(0);
        expect(readdirSync(models)).toEqual([FABER]);
      });

      test("uses the proxy from the environment, except for hosts in NO_PROXY", async () => {
        const { releases, data, add } = await publishReleases();
        const proxy = await startProxy(releases.port);
        const env = { HTTP_PROXY: proxy.url, http_proxy: proxy.url };
        const addThroughProxy = modelInstaller(runtime, releases, data, env);
        const { code, stderr } = await addThroughProxy(["pt-BR", "--yes"], "-", "http://releases.test");
        expect([code, stderr.replace(HINTS, "")]).toEqual([0, expect.not.stringContaining("ringport:")]);
        expect(proxy.hosts()).toContain("releases.test");
        const before = proxy.hosts().length;
        const exceptLoopback = modelInstaller(runtime, releases, data, {
          ...env,
          NO_PROXY: "127.0.0.1",
          no_proxy: "127.0.0.1",
        });
        expect((await exceptLoopback(["pt-BR", "--force"], "-")).code).toBe(0);
        expect(proxy.hosts()).toHaveLength(before);
        rmSync(join(data, "models"), { recursive: true });
        const unreachableRun = await add(["pt-BR", "--yes"], "-", "http://releases.test");
        expect([unreachableRun.code, unreachableRun.stderr]).toEqual([
          1,
          expect.stringMatching(/the connection to releases\.test failed: (ENOTFOUND|EAI_AGAIN)\b/),
        ]);
      });

      test.skipIf(process.platform === "win32")(
        "Ctrl-C leaves only a partial file that the next run completes",
        async () => {
          const { releases, data, models, add } = await publishReleases();
          releases.stalls = true;
          const { child, finished } = launch([releases.origin, "-", "pt-BR", "--yes"], {
            runtime,
            program: PROGRAM,
            env: { RINGPORT_DATA: data },
          });
          const partialFile = `.${FABER}.tar.bz2`;
          await expect
            .poll(() => existsSync(models) && readdirSync(models).some((name) => name.startsWith(partialFile)), {
              timeout: 20_000,
            })
            .toBe(true);
          child.kill("SIGINT");
          const { code, stderr } = await finished;
          expect([code, stderr]).toEqual([
            130,
            expect.stringContaining("Interrupted; run the command again to continue."),
          ]);
          releases.stalls = false;
          expect((await add(["pt-BR", "--yes"])).code).toBe(0);
          expect(readdirSync(models)).toEqual([FABER]);
        },
      );
    },
  );
