import { guardedMp3Stream } from "../application/guards/guarded-engines.ts";
import { guardedAuthenticate, guardedBodies, guardedPages } from "../application/guards/guarded-web.ts";
import type { HttpDependencies, HttpParts } from "./dependencies.ts";

/** The dependencies of the HTTP interface, with guarded ports. */
export function guardedHttpPorts(parts: HttpParts): HttpDependencies {
  const { authenticate, pages, mp3Stream, bodies, ...others } = parts;
  return {
    ...others,
    authenticate: guardedAuthenticate(authenticate, parts),
    pages: pages.map((page) => guardedPages(page, parts)),
    mp3Stream: mp3Stream && guardedMp3Stream(mp3Stream, parts),
    bodies: bodies && guardedBodies(bodies, parts),
  };
}
