import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InstallFault } from "../../../../adapters/local-models/installation/install-fault.ts";
import {
  limitsOf,
  type UnpackOptions,
  unpackArchive,
} from "../../../../adapters/local-models/installation/unpack-archive.ts";
import { type ArchiveFormat, archiveOf, FLUTE, fileEntry, linkEntry, modelEntries } from "../../../support/archives.ts";
import { fuzz } from "../../../support/fuzz.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { FIXTURE_MODELS } from "../../../support/tone-models.ts";

const FORMATS: readonly ArchiveFormat[] = ["tar", "tar.gz", "tar.bz2"];

/** A folder to unpack into, beside which nothing may change. */
class UnpackFolder {
  readonly root = temporaryFolder("unpack");
  readonly target = join(this.root, "parent", "into");

  async unpack(archive: Uint8Array, options?: UnpackOptions): Promise<string> {
    rmSync(this.target, { recursive: true, force: true });
    mkdirSync(this.target, { recursive: true });
    writeFileSync(join(this.root, "archive"), archive);
    const result = await unpackArchive(join(this.root, "archive"), this.target, options).catch((error: unknown) => {
      if (error instanceof InstallFault) return error.message;
      throw error;
    });
    expect(readdirSync(this.root).sort()).toEqual(["archive", "parent"]);
    expect(readdirSync(join(this.root, "parent"))).toEqual(["into"]);
    return result;
  }

  files(folder = this.target): string[] {
    return readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  }
}

describe("an archive", () => {
  it.each(FORMATS)("is unpacked: .%s", async (format) => {
    const folder = new UnpackFolder();
    expect(await folder.unpack(await archiveOf(modelEntries(FLUTE), format))).toBe(FLUTE);
    const names = readdirSync(join(FIXTURE_MODELS, FLUTE)).sort();
    expect(folder.files(join(folder.target, FLUTE))).toEqual(names);
    for (const name of names)
      expect(readFileSync(join(folder.target, FLUTE, name))).toEqual(readFileSync(join(FIXTURE_MODELS, FLUTE, name)));
  });

  it("may begin each name with ./, and have folders, long names and the files that macOS adds", async () => {
    const folder = new UnpackFolder();
    const longName = `${"folder-of-a-dictionary/".repeat(6)}${"name".repeat(30)}`;
    const entries = [".//", "./._a", "./a/", "./a/x", "./a/._x", `./a/${longName}`].map((name) => fileEntry(name));
    expect(await folder.unpack(await archiveOf(entries))).toBe("a");
    expect(folder.files().filter((name) => /x$|name$/.test(name))).toEqual([`a/${longName}`, "a/x"]);
  });

  it("may have links inside its folder", async () => {
    const folder = new UnpackFolder();
    const entries = [
      linkEntry("a/first", "sub/x"),
      fileEntry("a/sub/x", "text"),
      linkEntry("a/sub/second", "../first"),
      linkEntry("a/third", "a/sub/x", "link"),
    ];
    expect(await folder.unpack(await archiveOf(entries))).toBe("a");
    for (const name of ["first", "sub/second", "third"])
      expect(readFileSync(join(folder.target, "a", name), "utf8")).toBe("text");
  });
});

describe("a hostile archive", () => {
  const file = fileEntry("a/x", "text");

  it.each([
    ["a path out of the folder", [file, fileEntry("a/../../evil")], /leads out of its folder/],
    ["an absolute path", [file, fileEntry("/tmp/ringport-evil")], /leads out of its folder/],
    ["a Windows path", [file, fileEntry("a\\..\\..\\evil")], /characters/],
    ["a link out of the folder", [file, linkEntry("a/link", "../../evil")], /leads out of its folder/],
    ["a link to another folder at the top", [file, linkEntry("a/link", "../b")], /leads out of its folder/],
    ["an absolute link", [file, linkEntry("a/link", "/etc/passwd")], /leads out of its folder/],
    ["a hard link out of the folder", [file, linkEntry("a/link", "../evil", "link")], /leads out of its folder/],
    ["an absolute hard link", [file, linkEntry("a/link", "/etc/passwd", "link")], /leads out of its folder/],
    ["a hard link to a folder", [file, linkEntry("a/link", "a", "link")], /does not lead to a file/],
    ["a file through a link", [linkEntry("a/link", "sub"), file, fileEntry("a/link/x")], /exists twice/],
    [
      "links that together lead out of the folder",
      [file, linkEntry("a/b/here", "."), linkEntry("a/up", "b/here/../.."), linkEntry("a/upper", "up/..")],
      /leads (out of its folder|nowhere)/,
    ],
    ["a link to itself", [file, linkEntry("a/link", "link")], /leads nowhere/],
    ["a link to nothing", [file, linkEntry("a/link", "missing")], /leads nowhere/],
    [
      "a device",
      [file, { header: { name: "a/null", size: 0, type: "character-device" as const } }],
      /character-device/,
    ],
    ["a file twice", [file, file], /exists twice/],
    ["a file that is also a folder", [file, fileEntry("a/x/y")], /exists twice/],
    ["several folders", [file, fileEntry("b/x")], /several folders at its top \(a, b\)/],
    ["a file at the top", [fileEntry("model.onnx", "text")], /outside of a folder/],
    ["nothing", [], /is empty/],
    ["a deep folder", [fileEntry(`a/${"b/".repeat(40)}x`)], /levels/],
    ["a long name", [fileEntry(`a/${"x".repeat(300)}`)], /too long/],
    ["a name with a line break", [fileEntry("a/x\ny")], /characters/],
  ])("is refused, and no file is written outside it: %s", async (_, entries, reason) => {
    expect(await new UnpackFolder().unpack(await archiveOf(entries, "tar.gz"))).toMatch(reason);
  });

  it.each(FORMATS)("is refused if it is cut short: .%s", async (format) => {
    const archive = await archiveOf(modelEntries(FLUTE), format);
    const folder = new UnpackFolder();
    for (const part of [0.1, 0.5, 0.9]) {
      expect(await folder.unpack(archive.subarray(0, Math.round(archive.length * part)))).toMatch(
        /(truncated|cut short|unexpected end of file); the archive is damaged or incomplete, so download or copy it again$/,
      );
    }
  });

  it.each([
    ["a page", "<!doctype html><title>Not found</title>", /not a \.tar\.bz2, \.tar\.gz or \.tar archive/],
    ["an empty file", "", /is empty; download or copy it again/],
    ["a zip", "PK\x03\x04…", /not a \.tar\.bz2, \.tar\.gz or \.tar archive/],
    ["a text that begins like bzip2", "BZh9 and then other bytes", /bzip2 data/],
    ["a text that begins like gzip", "\x1f\x8b\x08 and then other bytes", /gzip data/],
  ])("is refused if it is not an archive: %s", async (_, text, reason) => {
    expect(await new UnpackFolder().unpack(Buffer.from(text, "latin1"))).toMatch(reason);
  });

  it.each(["tar.gz", "tar.bz2"] as const)("is refused if its files become too large: .%s", async (format) => {
    const bomb = await archiveOf([fileEntry("a/x", new Uint8Array(3_000_000))], format);
    expect(bomb.length).toBeLessThan(50_000);
    const folder = new UnpackFolder();
    expect(await folder.unpack(bomb, { limits: { bytes: 1_000_000, files: 10 } })).toMatch(/more than 1000000 bytes/);
    expect(await folder.unpack(bomb, { limits: { bytes: 4_000_000, files: 10 } })).toBe("a");
  });

  it("is refused if it has too many files", async () => {
    const archive = await archiveOf(Array.from({ length: 30 }, (_, number) => fileEntry(`a/${number}`)));
    expect(await new UnpackFolder().unpack(archive, { limits: { bytes: 1_000_000, files: 29 } })).toMatch(
      /more than 29 files/,
    );
  });

  it("has limits that depend on its size", () => {
    expect(limitsOf(1_000).bytes).toBe(256 * 2 ** 20);
    expect(limitsOf(100_000_000).bytes).toBe(2_500_000_000);
    expect(limitsOf(2 ** 40).bytes).toBe(8 * 2 ** 30);
  });

  it("ends when it is cancelled", async () => {
    const signal = AbortSignal.abort(new Error("Ctrl-C"));
    await expect(new UnpackFolder().unpack(await archiveOf(modelEntries(FLUTE)), { signal })).rejects.toThrow("Ctrl-C");
  });
});

describe.each(FORMATS)("a corrupted .%s", (format) => {
  const folder = new UnpackFolder();
  const archive = archiveOf(
    [fileEntry("a/x", "some text"), fileEntry("a/sub/y", "y".repeat(700)), linkEntry("a/z", "x")],
    format,
  );

  fuzz(
    "is unpacked into its folder, or refused",
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 4 }),
      fc.option(fc.nat()),
      async (changes, cutBytes) => {
        const corruptedArchive = Uint8Array.from(await archive);
        for (const [at, change] of changes) corruptedArchive[at % corruptedArchive.length]! ^= change;
        const result = await folder.unpack(
          corruptedArchive.subarray(
            0,
            cutBytes === null ? corruptedArchive.length : cutBytes % corruptedArchive.length,
          ),
        );
        expect(result).not.toBe("");
      },
    ),
  );
});

fuzz(
  "any names and links stay in the folder",
  fc.asyncProperty(
    fc.array(
      fc.record({
        name: fc.array(fc.constantFrom("a", "b", "..", ".", "x", "", "link"), { minLength: 1, maxLength: 5 }),
        target: fc.array(fc.constantFrom("a", "b", "..", ".", "x", "link"), { minLength: 1, maxLength: 4 }),
        kind: fc.constantFrom("file" as const, "symlink" as const, "link" as const),
      }),
      { maxLength: 8 },
    ),
    async (parts) => {
      const folder = new UnpackFolder();
      const entries = parts.map(({ name, target, kind }) =>
        kind === "file"
          ? fileEntry(`a/${name.join("/")}`, "text")
          : linkEntry(`a/${name.join("/")}`, target.join("/"), kind),
      );
      await folder.unpack(await archiveOf(entries));
    },
  ),
);
