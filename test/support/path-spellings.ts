/** A spelling of `/metrics` on the wire (one byte per character), and the status from a server without a proxy. */
export interface PathSpelling {
  readonly target: string;
  readonly status: 400 | 404;
  /** Bun percent-encodes the characters first. */
  readonly bun?: 404;
}

/** Paths that some program reads as `/metrics`. None may reach it through a proxy that blocks `/metrics`. */
export const PATH_SPELLINGS: readonly PathSpelling[] = [
  { target: "/x\\..\\metrics", status: 400 },
  { target: "/x\\../metrics", status: 400 },
  { target: "/metrics\\", status: 400 },
  { target: "/%3fx\\..\\metrics", status: 400 },
  { target: "/x\\..\\metrics?a=%5c", status: 400 },
  { target: "/x/../metrics", status: 404 },
  { target: "/x/../metrics/", status: 404 },
  { target: "/./metrics", status: 404 },
  { target: "/metrics/.", status: 404 },
  { target: "/x/%2e%2e/metrics", status: 404 },
  { target: "/x/.%2E/metrics", status: 404 },
  { target: "/%2e/metrics", status: 404 },
  { target: "/x/..;/metrics", status: 404 },
  { target: "/x%2f..%2fmetrics", status: 404 },
  { target: "/x%5c..%5cmetrics", status: 404 },
  { target: "/metrics%2f", status: 404 },
  { target: "//metrics", status: 404 },
  { target: "/x/..//metrics", status: 404 },
  { target: "/metrics/", status: 404 },
  { target: "/metrics//", status: 404 },
  { target: `${"/x/..".repeat(13)}/metrics`, status: 404 },
  { target: "/%6detrics", status: 404 },
  { target: "/METRICS", status: 404 },
  { target: "/metrics;x", status: 404 },
  { target: "/metrics%00", status: 404 },
  { target: "/metrics%20", status: 404 },
  { target: "/metrics#x", status: 400 },
  { target: "/metrics|", status: 400 },
  { target: '/metrics"', status: 400, bun: 404 },
  { target: "/metrics{}", status: 400, bun: 404 },
  { target: "/metr\u00c3\u00acics", status: 400, bun: 404 },
  { target: "/metrics%", status: 400 },
  { target: "/metrics%zz", status: 400 },
  { target: "http://calls.example.com/x/../metrics", status: 404 },
  { target: "http://calls.example.com/metrics\\", status: 400 },
];
