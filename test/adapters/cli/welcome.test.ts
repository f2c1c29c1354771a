import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { printWelcome, type Welcome } from "../../../adapters/cli/welcome.ts";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import { freshFolder } from "./run-cli.ts";

test("a storage that fails during the welcome ends no server", async () => {
  const printed: string[] = [];
  const out = vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
  const list = vi.fn(() => Promise.reject(new StorageUnavailable("the connection broke")));
  const welcome = {
    ringport: { voices: async () => [], tokens: { list } },
    listening: { url: "http://127.0.0.1:8080" },
    reachable: "http://127.0.0.1:8080",
    settings: { options: {} },
  } as unknown as Welcome;
  try {
    await printWelcome(welcome);
    expect(list).toHaveBeenCalledOnce();
    expect(printed.join("")).toContain("Ringport is listening on http://127.0.0.1:8080");
    expect(printed.join("")).not.toMatch(/token/);
    list.mockRejectedValueOnce(new Error("a mistake"));
    await expect(printWelcome(welcome)).rejects.toThrow("a mistake");
  } finally {
    out.mockRestore();
  }
});

test("the first request goes to the public address if the certificate is for it", async () => {
  const printed: string[] = [];
  const out = vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
  const folder = freshFolder();
  const first = async () => ({ id: "tok_1", token: "rp_live_x" });
  const settings = {
    options: { publicUrl: "https://calls.example.com" },
    tls: { cert: "cert.pem", key: "key.pem" },
    tokenFile: join(folder, "token"),
  };
  const welcome = {
    ringport: { voices: async () => [], tokens: { list: async () => [], first } },
    listening: { url: "https://127.0.0.1:8080" },
    reachable: "https://127.0.0.1:8080",
    settings,
  } as unknown as Welcome;
  try {
    await printWelcome(welcome);
    expect(printed.join("")).toContain("Ringport is listening on https://127.0.0.1:8080");
    expect(printed.join("")).toContain("curl -X POST https://calls.example.com/v1/instances");
  } finally {
    out.mockRestore();
  }
});
