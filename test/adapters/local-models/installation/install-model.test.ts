import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TarEntry } from "modern-tar";
import { describe, expect, it } from "vitest";
import {
  installModel,
  licenceByCard,
  removeModel,
} from "../../../../adapters/local-models/installation/install-model.ts";
import { readModelFolder } from "../../../../adapters/local-models/model-folder.ts";
import { archiveOf, DUO_MODEL, FLUTE, fileEntry, modelEntries, RECOGNISER } from "../../../support/archives.ts";
import { fullDisk } from "../../../support/full-disk.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

async function saveArchive(entries: readonly TarEntry[]): Promise<string> {
  const path = join(temporaryFolder("archive"), "archive");
  writeFileSync(path, await archiveOf(entries));
  return path;
}

async function namesIn(folder: string): Promise<string[]> {
  const { voices, recognisers } = await readModelFolder(folder);
  return [...voices, ...recognisers].map(({ name }) => name);
}

describe("a model", () => {
  it("is installed under its folder's name, or under another one", async () => {
    const folder = temporaryFolder("models");
    expect(await installModel({ folder, archive: await saveArchive(modelEntries(DUO_MODEL)) })).toEqual({
      name: DUO_MODEL,
      isNew: true,
    });
    const archive = await saveArchive(modelEntries(RECOGNISER, "tones"));
    await installModel({ folder, archive, name: RECOGNISER });
    expect(await namesIn(folder)).toEqual([DUO_MODEL, RECOGNISER]);
    expect(readdirSync(folder).sort()).toEqual([RECOGNISER, DUO_MODEL]);
  });

  it("is kept if it is already installed, and replaced on request", async () => {
    const folder = temporaryFolder("models");
    const archive = await saveArchive(modelEntries(FLUTE));
    const card = join(folder, FLUTE, "MODEL_CARD");
    await installModel({ folder, archive });
    writeFileSync(card, "mine");
    expect(await installModel({ folder, archive })).toEqual({ name: FLUTE, isNew: false });
    expect(readFileSync(card, "utf8")).toBe("mine");
    expect(await installModel({ folder, archive, force: true })).toEqual({ name: FLUTE, isNew: true });
    expect(readFileSync(card, "utf8")).not.toBe("mine");
    expect(readdirSync(folder)).toEqual([FLUTE]);
  });

  it("is installed once by several processes at the same time", async () => {
    const folder = temporaryFolder("models");
    const archive = await saveArchive(modelEntries(FLUTE));
    const results = await Promise.all(Array.from({ length: 5 }, () => installModel({ folder, archive })));
    expect(results.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(readdirSync(folder)).toEqual([FLUTE]);
  });

  it("leaves no files if it cannot be used, and does not replace the installed one", async () => {
    const folder = temporaryFolder("models");
    const install = async (entries: readonly TarEntry[], force = false) =>
      installModel({ folder, archive: await saveArchive(entries), force });
    const withoutTokens = modelEntries(FLUTE).filter(({ header }) => !header.name.endsWith("tokens.txt"));
    await expect(install(withoutTokens)).rejects.toThrow(`the model ${FLUTE} cannot be used: tokens.txt is missing`);
    await expect(install([fileEntry("notes/README.md", "no model")])).rejects.toThrow(
      "notes has no model in its folder",
    );
    await expect(install(modelEntries(FLUTE, ".hidden"))).rejects.toThrow('".hidden", which is not a valid model name');
    expect(readdirSync(folder)).toEqual([]);
    await install(modelEntries(FLUTE));
    await expect(install(withoutTokens, true)).rejects.toThrow("tokens.txt is missing");
    expect(await namesIn(folder)).toEqual([FLUTE]);
    expect(readdirSync(folder)).toEqual([FLUTE]);
  });

  it.each([
    ["ENOSPC", /cannot be written: its file system is full; free space/],
    ["EACCES", /cannot be written: this user may not write there/],
    ["EROFS", /read-only; choose another folder with RINGPORT_SPEECH_MODELS/],
  ])("leaves no files if it cannot be written, and the error names the fix: %s", async (code, message) => {
    const folder = temporaryFolder("models");
    const openFile = fullDisk(1_000, code);
    // The fault begins after the first piece of a file.
    const entries = modelEntries(FLUTE).map((entry) => {
      const { header, body } = entry as { header: TarEntry["header"]; body: Uint8Array };
      return fileEntry(
        header.name,
        header.name.endsWith(".onnx") ? Buffer.concat([body, new Uint8Array(3_000_000)]) : body,
      );
    });
    await expect(installModel({ folder, archive: await saveArchive(entries), openFile })).rejects.toThrow(message);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("deletes killed processes' old files when it is installed, but no recent ones", async () => {
    const folder = temporaryFolder("models");
    for (const name of [".draft-old", ".a.tar.bz2.part", ".draft-new", ".b.tar.bz2.part"])
      mkdirSync(join(folder, name));
    for (const name of [".draft-old", ".a.tar.bz2.part"]) utimesSync(join(folder, name), 0, 0);
    await installModel({ folder, archive: await saveArchive(modelEntries(FLUTE)) });
    expect(readdirSync(folder).sort()).toEqual([".b.tar.bz2.part", ".draft-new", FLUTE]);
  });

  it("is removed completely", async () => {
    const folder = temporaryFolder("models");
    await installModel({ folder, archive: await saveArchive(modelEntries(FLUTE)) });
    await removeModel(folder, FLUTE);
    expect(readdirSync(folder)).toEqual([]);
  });
});

it.each([
  ["* License: CC0\n", "CC0"],
  ["# Model card\n\n## Dataset\n\n* URL: x\n- Licence: public domain, see URL\n", "public domain, see URL"],
  ["The licence of this voice is hidden.", undefined],
  [undefined, undefined],
])("the licence on the card %j is %s", async (card, licence) => {
  const folder = temporaryFolder("models");
  if (card !== undefined) writeFileSync(join(folder, "MODEL_CARD"), card);
  expect(await licenceByCard(folder)).toBe(licence);
});
