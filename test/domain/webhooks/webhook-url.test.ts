import { describe, expect, test } from "vitest";
import { webhookUrlFault } from "../../../src/domain/webhooks/webhook-url.ts";

const fault = (url: string) => webhookUrlFault(url, false);

describe("the URL of an endpoint", () => {
  test.each([
    ...["https://example.com/hooks", "https://example.com:8443/", "https://8.8.8.8/x", "https://[2606:4700::1111]/"],
    "https://internal.example.com/",
  ])("%s is accepted", (url) => expect(fault(url)).toBeUndefined());

  test.each([
    ...["https://127.0.0.1/", "https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/"],
    ...["https://127.0.0.1./", "https://①②⑦.0.0.1/", "https://0/", "https://169.254.169.254/latest/meta-data/"],
    ...["https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[fd00:ec2::254]/"],
    ...["https://10.0.0.1/", "https://192.168.0.1:443/", "https://100.64.0.1/", "https://localhost/"],
    ...["https://LOCALHOST./", "https://a.localhost/", "https://printer.local/", "https://metadata.google.internal/"],
  ])("%s leads into a private network", (url) =>
    expect(fault(url)).toMatch(/not on the public Internet; use a public/),
  );

  test.each([
    ["http://example.com/", /the scheme is "http"; use https/],
    ["ftp://example.com/", /the scheme is "ftp"; use https/],
    ["https://user:secret@example.com/", /contains a user name or a password/],
    ["example.com", /not an absolute URL/],
    ["", /not an absolute URL/],
    [`https://example.com/${"a".repeat(3000)}`, /at most 2048/],
  ])("%s is refused with the fix", (url, detail) => expect(fault(url)).toMatch(detail));

  test("allowPrivate lifts only the demand for HTTPS and a public host", () => {
    expect(webhookUrlFault("http://127.0.0.1:3000/", true)).toBeUndefined();
    expect(webhookUrlFault("http://localhost/", true)).toBeUndefined();
    expect(webhookUrlFault("ftp://localhost/", true)).toMatch(/the scheme is "ftp"/);
    expect(webhookUrlFault("http://u@localhost/", true)).toMatch(/user name/);
  });
});
