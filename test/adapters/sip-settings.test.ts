import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { networkNames } from "../../adapters/defaults/all-networks.ts";
import { sipTrunks } from "../../adapters/defaults/sip-trunks.ts";
import { embedded } from "../../adapters/defaults.ts";
import type { EmbeddedTuning } from "../../src/options.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const ACME = { name: "acme", server: "sip:sip.acme.example" };
const names = (embedded: EmbeddedTuning) => networkNames({ embedded });

describe("the networks", () => {
  test("are the simulator, or SIP alone if it is configured", () => {
    expect(networkNames({})).toEqual(["simulator"]);
    expect(names({ sip: { accounts: false } })).toEqual(["simulator"]);
    expect(names({ sip: { trunks: [ACME] } })).toEqual(["sip"]);
    expect(names({ sip: { accounts: { servers: ["*.acme.example"] } } })).toEqual(["sip"]);
  });

  test("are both if both are named, in order", () => {
    expect(names({ networks: ["simulator", "sip"], sip: { trunks: [ACME] } })).toEqual(["simulator", "sip"]);
  });

  test("cannot be SIP without a trunk, or trunks without SIP", () => {
    expect(() => names({ networks: ["sip"] })).toThrow(/no trunk is configured: set RINGPORT_SIP_TRUNKS/);
    expect(() => names({ networks: ["simulator"], sip: { trunks: [ACME] } })).toThrow(/add sip to RINGPORT_TELEPHONY/);
  });

  test("include each route, listed before its trunks", async () => {
    const route = (name: string) => ({ name, trunks: [{ trunk: "backup" }, { trunk: "acme" }] });
    const sipOptions = { trunks: [ACME, { ...ACME, name: "backup" }], routes: [route("world")] };
    const networkNamesOf = async (sip: EmbeddedTuning["sip"]): Promise<string[]> => {
      const { telephony, speech, decoder } = await embedded({ data: temporaryFolder("routes"), embedded: { sip } });
      await Promise.all([...telephony, speech, decoder].map((port) => port.close()));
      return telephony.map(({ name }) => name);
    };
    expect(await networkNamesOf(sipOptions)).toEqual(["sip/world", "sip/acme", "sip/backup"]);
    expect(await networkNamesOf({ trunks: JSON.stringify(sipOptions) })).toEqual([
      "sip/world",
      "sip/acme",
      "sip/backup",
    ]);
    const overriddenOptions = { trunks: JSON.stringify(sipOptions), routes: [route("other")] };
    expect(await networkNamesOf(overriddenOptions)).toEqual(["sip/other", "sip/acme", "sip/backup"]);
  });

  test("include each trunk, and the first trunk is the default", async () => {
    const data = temporaryFolder("sip-settings");
    const trunks = [ACME, { ...ACME, name: "backup" }];
    const ports = await embedded({ data, embedded: { networks: ["sip", "simulator"], sip: { trunks } } });
    expect(ports.telephony.map(({ name }) => name)).toEqual(["sip/acme", "sip/backup", "simulator"]);
    for (const network of ports.telephony) await network.close();
    await Promise.all([ports.speech.close(), ports.decoder.close()]);
  });
});

describe("SIP trunks", () => {
  test("are accepted as an array, as JSON, or from a JSON file", async () => {
    const file = join(temporaryFolder("trunks"), "trunks.json");
    writeFileSync(file, `\n ${JSON.stringify({ trunks: [ACME] })}`);
    for (const input of [[ACME], JSON.stringify([ACME]), ` ${JSON.stringify({ trunks: [ACME] })} `, file])
      expect(await sipTrunks({ trunks: input })).toEqual({ trunks: [ACME], routes: [] });
  });

  test("a missing file is named", async () => {
    await expect(sipTrunks({ trunks: "/nowhere/trunks.json" })).rejects.toThrow(
      /the file \/nowhere\/trunks\.json cannot be read \(ENOENT\)/,
    );
  });

  test("invalid JSON is refused with its position but without its secrets", async () => {
    const trunks = '[{"name":"acme",\n"password":"hunter2" "server":1}]';
    const fault = await sipTrunks({ trunks }).catch((error: Error) => error);
    // Bun does not report the position.
    expect(String(fault)).toMatch(/are not JSON( at line 2, column \d+)?; they must be a list/);
    expect(String(fault)).not.toContain("hunter2");
  });

  test("every fault is named in one line without secrets, and no trunk is created", async () => {
    const data = join(temporaryFolder("sip-settings"), "data");
    const trunks = JSON.stringify([
      { name: "acme", server: "http://acme", codecs: ["G729"] },
      { name: "Backup", server: "sip:backup.example", register: true, password: "hunter2", pasword: "hunter3" },
    ]);
    const fault = await embedded({ data, embedded: { sip: { trunks } } }).catch((error: Error) => error);
    expect(fault).toBeInstanceOf(Error);
    const { message } = fault as Error;
    expect(message).not.toContain("\n");
    for (const part of ["acme: server", "codecs", "Backup: name", "pasword"]) expect(message).toContain(part);
    expect(message).not.toMatch(/hunter[23]/);
    expect(existsSync(data)).toBe(false);
  });
});
