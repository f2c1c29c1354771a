import { expect, test } from "vitest";
import { absoluteLinks } from "../../.ci/absolute-links.ts";

const BASE = "https://git.example/you/ringport/blob/v1.0.0";

test.each([
  ["[guide](docs/http.md#errors)", `[guide](${BASE}/docs/http.md#errors)`],
  ["[here](./LICENSE) and [there](docs/sip.md)", `[here](${BASE}/LICENSE) and [there](${BASE}/docs/sip.md)`],
  ["[above](#two-commands)", "[above](#two-commands)"],
  [
    "[RFC](https://rfc.example/9457), [mail](mailto:a@b.example)",
    "[RFC](https://rfc.example/9457), [mail](mailto:a@b.example)",
  ],
  [
    '<img alt="a phone" src="docs/images/phone.png" width="29%">',
    '<img alt="a phone" src="https://git.example/you/ringport/raw/v1.0.0/docs/images/phone.png" width="29%">',
  ],
  ['<img src="https://x.example/a.png">', '<img src="https://x.example/a.png">'],
  ["```ts\nx[0](y)\n```\n[a](b)", `\`\`\`ts\nx[0](y)\n\`\`\`\n[a](${BASE}/b)`],
])("%j becomes %j", (page, expected) => {
  expect(absoluteLinks(page, BASE)).toBe(expected);
});
