import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { localNames, parseHosts } from "../../../adapters/untrusted-hosts/local-names.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("names in the hosts file keep their addresses, in any letter case and with comments", () => {
  const names = parseHosts(
    "# local\n10.0.0.5 PBX pbx.lan # the old one\n::1 ip6-loopback\nfd00::5\tpbx\nnothing here\n",
  );
  expect(names.get("pbx")).toEqual([
    { address: "10.0.0.5", family: 4 },
    { address: "fd00::5", family: 6 },
  ]);
  expect([...names.keys()]).toEqual(["pbx", "pbx.lan", "ip6-loopback"]);
});

test("localhost and names under it mean this machine, even without a hosts file", async () => {
  const local = localNames(new ManualSystem(), "/nowhere/hosts");
  for (const name of ["localhost", "app.localhost"])
    expect(await local(name)).toEqual([
      { address: "127.0.0.1", family: 4 },
      { address: "::1", family: 6 },
    ]);
  expect(await local("notlocalhost")).toBeUndefined();
  expect(await local("constructor")).toBeUndefined();
});

test("a changed hosts file is noticed within seconds", async () => {
  const system = new ManualSystem();
  const file = join(temporaryFolder("hosts"), "hosts");
  const local = localNames(system, file);
  expect(await local("pbx")).toBeUndefined();
  writeFileSync(file, "10.0.0.5 pbx\n");
  expect(await local("pbx")).toBeUndefined();
  await system.advance(5_000);
  expect(await local("pbx")).toEqual([{ address: "10.0.0.5", family: 4 }]);
});
