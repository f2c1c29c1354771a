import type { HtmlPage } from "../../base/html-page.ts";
import { Refusal } from "../../domain/refusal.ts";
import { StorageUnavailable } from "../../ports/storage.ts";
import type { Reply } from "../../ports/web.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { linkPage, linkPageState, refusalPage } from "../link-pages/link-page.ts";
import type { QrImages } from "../link-pages/qr.ts";
import { problemOf } from "../problems/problem.ts";
import { PROBLEMS } from "../problems/problem-table.ts";
import { html, jsonReply, withVary } from "../replies/reply.ts";
import type { RequestContext } from "../requests/request-context.ts";
import type { HttpRoute } from "../route.ts";
import { timestamp } from "../timestamp.ts";
import { instanceIdOf } from "./record-id.ts";

/** The first segment of link page paths; the rest is a secret. */
export const LINK_PAGES = "link-page";

const NOT_STORED = { "cache-control": "no-store" };

/**
 * The page that shows the code of one instance to the person who holds the phone.
 * @param server public URL of the interface
 */
export function linkRoutes(
  { instances }: Pick<HttpDependencies, "instances">,
  server: () => string,
  qrImage: QrImages,
): HttpRoute[] {
  return [
    {
      method: "POST",
      path: "/v1/instances/:instanceId/link-page",
      operation: {
        id: "createLinkPage",
        tag: "Instances",
        summary: "Get a page that shows the QR code without a token",
        description:
          "For the owner of the phone, if that is another person. The page shows each new code until the number is linked; it works " +
          "for an hour. Anyone who has its address can link a phone to the instance.",
        access: "admin",
        cost: "small",
        path: { instanceId: "The id of the instance, with the prefix inst_." },
        responses: { 201: { description: "The page.", schema: "LinkPage" } },
        problems: ["instance_not_found", "instance_already_linked", "qr_unavailable"],
      },
      async run(context) {
        const { ticket, expiresAt } = await instances.linkTicket(context.caller, instanceIdOf(context));
        return jsonReply(201, { url: linkPageUrl(server(), ticket), expires_at: timestamp(expiresAt) }, NOT_STORED);
      },
    },
    {
      method: "GET",
      path: `/${LINK_PAGES}/:ticket`,
      operation: {
        id: "linkPage",
        tag: "Instances",
        summary: "The page with the QR code of an instance",
        description: "With `Accept: application/json` the response is what the page shows.",
        access: "open",
        cost: ["linkPages"],
        path: { ticket: "From the url of the page." },
        responses: {
          200: {
            description: "The page.",
            schema: "LinkPageState",
            media: ["text/html"],
          },
        },
        problems: ["link_page_not_found", "link_page_expired", "qr_unavailable", "server_busy", "storage_unavailable"],
        problemPages: true,
      },
      async run(context) {
        const { ticket = "" } = context.params;
        const { signal } = context;
        if (wantsJson(context)) {
          const state = await linkPageState(await instances.linkPage(ticket, { signal }), qrImage);
          return withVary(jsonReply(200, state, NOT_STORED), "Accept");
        }
        try {
          return pageReply(
            { status: 200, headers: {} },
            await linkPage(await instances.linkPage(ticket, { signal }), qrImage),
          );
        } catch (error) {
          const refusal = refusalOf(error);
          const reply = problemOf(context, refusal);
          const { title } = PROBLEMS[refusal.code];
          return pageReply(reply, await refusalPage(title, refusal.message, { reloads: reply.status >= 500 }));
        }
      },
    },
  ];
}

/** The address of a link page. @param server public URL of the interface */
export function linkPageUrl(server: string, ticket: string): string {
  return `${server}/${LINK_PAGES}/${ticket}`;
}

const wantsJson = (context: RequestContext): boolean => /\bapplication\/json\b/i.test(context.header("accept") ?? "");

/** @throws errors other than refusals and storage faults */
function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (!(error instanceof StorageUnavailable)) throw error;
  return new Refusal("storage_unavailable", "the server cannot read the instance at the moment", { cause: error });
}

/** A page with the status and headers of a reply. */
function pageReply({ status, headers }: Pick<Reply, "status" | "headers">, page: HtmlPage): Reply {
  const reply = html(page.html, page.contentSecurityPolicy);
  return withVary({ ...reply, status, headers: { ...headers, ...reply.headers, ...NOT_STORED } }, "Accept");
}
