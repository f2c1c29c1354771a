import type { HtmlPage } from "../../base/html-page.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Reply } from "../../ports/web.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { LINK_PAGE_EXAMPLE, LINK_PAGE_STATE_EXAMPLE } from "../examples.ts";
import { linkPage, linkPageFault, linkPageState } from "../link-page.ts";
import { PROBLEMS, problemOf } from "../problem.ts";
import { html, json, varying } from "../reply.ts";
import type { RequestContext } from "../request-context.ts";
import type { Route } from "../route.ts";
import { timestamp } from "../views.ts";
import { instanceIdOf } from "./record-id.ts";

/** The page; its path is a secret. */
export const LINK_PAGE_PATH = "/link/:ticket";

const NOT_STORED = { "cache-control": "no-store" };

/** The page that shows the code of one instance to whoever holds the phone. @param server public URL of the interface */
export function linkRoutes({ instances }: Pick<HttpDependencies, "instances">, server: () => string): Route[] {
  return [
    {
      method: "POST",
      path: "/v1/instances/:instanceId/link-page",
      operation: {
        id: "createLinkPage",
        tag: "Instances",
        summary: "Get a page that shows the QR code without a token",
        description:
          "For the owner of the phone, who may be somebody else. The page shows each new code until the number is linked; it works " +
          "for an hour. Whoever has its address can link a phone to the instance.",
        access: "admin",
        path: { instanceId: "The id of the instance, with the prefix inst_." },
        answers: { 201: { description: "The page.", schema: "LinkPage", example: LINK_PAGE_EXAMPLE } },
        problems: ["instance_not_found", "instance_already_linked"],
      },
      async run(context) {
        const { ticket, expiresAt } = await instances.linkTicket(context.caller, instanceIdOf(context));
        return json(201, { url: `${server()}/link/${ticket}`, expires_at: timestamp(expiresAt) }, NOT_STORED);
      },
    },
    {
      method: "GET",
      path: LINK_PAGE_PATH,
      operation: {
        id: "linkPage",
        tag: "Instances",
        summary: "The page with the QR code of an instance",
        description: "With `Accept: application/json` the response is what the page shows.",
        access: "open",
        path: { ticket: "From the url of the page." },
        answers: {
          200: {
            description: "The page.",
            schema: "LinkPageState",
            media: ["text/html"],
            example: LINK_PAGE_STATE_EXAMPLE,
          },
        },
        problems: ["link_page_not_found", "link_page_expired", "qr_unavailable", "storage_unavailable", "stopping"],
        problemPages: true,
      },
      async run(context) {
        const { ticket = "" } = context.params;
        if (asJson(context)) {
          const state = await linkPageState(await instances.linkPage(ticket));
          return varying(json(200, state, NOT_STORED), "Accept");
        }
        try {
          return pageReply({ status: 200, headers: {} }, await linkPage(await instances.linkPage(ticket)));
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          return pageReply(problemOf(context, error), await linkPageFault(PROBLEMS[error.code].title, error.message));
        }
      },
    },
  ];
}

const asJson = (context: RequestContext): boolean => /\bapplication\/json\b/i.test(context.header("accept") ?? "");

/** A page with the status and headers of a reply. */
function pageReply({ status, headers }: Pick<Reply, "status" | "headers">, page: HtmlPage): Reply {
  const reply = html(page.html, page.contentSecurityPolicy);
  return varying({ ...reply, status, headers: { ...headers, ...reply.headers, ...NOT_STORED } }, "Accept");
}
