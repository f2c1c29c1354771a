import { expect, inject, test } from "vitest";
import { entriesOf } from "./support/entries.ts";

// Adding, removing or changing a name belongs in the changelog: if this fails on
// purpose, write a changeset (.changeset/README.md) and take the new list with `npm run test:tier -- package -u`.
test.each(entriesOf(inject("packed").folder))(
  "$specifier exports the recorded names and members",
  async ({ specifier, exports }) => {
    const file = specifier.replace("/", "-");
    await expect(`${exports.join("\n")}\n`).toMatchFileSnapshot(`exports/${file}.txt`);
  },
);
