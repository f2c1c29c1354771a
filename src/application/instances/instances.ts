import { mayUseInstance } from "../../domain/access/ownership.ts";
import type { Principal } from "../../domain/access/principal.ts";
import { parseCreateInstance, parseUpdateInstance } from "../../domain/input/inputs.ts";
import type { Instance } from "../../domain/instances/instance.ts";
import { providerIn } from "../../domain/instances/instance-input.ts";
import { callerOf } from "../../domain/numbers/caller-id.ts";
import { type Fault, Refusal } from "../../domain/refusal.ts";
import type { Page } from "../../ports/storage.ts";
import { assertCallerAllowed } from "../calls/creation/callers.ts";
import type { Deletions } from "../calls/deletion/instance-deletions.ts";
import type { Dispatcher } from "../calls/dialling/dispatcher.ts";
import type { Context } from "../context.ts";
import { type IdempotencyContext, runOnce } from "../idempotency/idempotency.ts";
import type {
  CreateOptions,
  Creation,
  InstanceDetails,
  InstanceUseCases,
  LinkingCode,
  LinkPageState,
  ListedInstance,
  TypedLinkCode,
  WaitLimit,
} from "../use-cases.ts";
import { byteBudgetOf, storageQuota } from "../user-limits/byte-budget.ts";
import { refuseDemo } from "../user-limits/refuse-demo.ts";
import { linksAutomatically } from "./line-monitor.ts";
import type { Lines } from "./lines.ts";
import type { LinkTicket } from "./link-tickets.ts";
import { Linking, type LinkingContext } from "./linking.ts";
import { ownedInstance, ownedOrDeletedInstance } from "./owned-instance.ts";
import { Unlinkings, type UnlinkingsContext } from "./unlinkings.ts";

type InstancesContext = Pick<
  Context,
  "access" | "events" | "ids" | "limits" | "schemas" | "storage" | "strictSchemas" | "system" | "telephony"
> &
  IdempotencyContext &
  LinkingContext &
  UnlinkingsContext;

/** The use cases of instances. */
export class Instances implements InstanceUseCases {
  readonly #context: InstancesContext;
  readonly #lines: Lines;
  readonly #deletions: Deletions;
  readonly #linking: Linking;
  readonly #unlinkings: Unlinkings;

  constructor(context: InstancesContext, lines: Lines, deletions: Deletions, dispatcher: Pick<Dispatcher, "endLive">) {
    this.#context = context;
    this.#lines = lines;
    this.#deletions = deletions;
    this.#unlinkings = new Unlinkings(context, lines, dispatcher);
    this.#linking = new Linking(context, lines, deletions);
  }

  async create(principal: Principal, input: unknown, options: CreateOptions = {}): Promise<Instance & Creation> {
    const { system, ids, events, storage } = this.#context;
    const schemas = options.strict ? this.#context.strictSchemas : this.#context.schemas;
    const openNetworks = await this.#context.access.networksOf(principal.userId);
    const checkedInput = parseCreateInstance(schemas, input, this.#providerFaults(input, openNetworks));
    const { name, metadata = {}, provider } = checkedInput;
    const callerId = callerOf(checkedInput.callerId);
    refuseDemo(principal, "a demo token cannot create instances");
    const { userId } = principal;
    const newInstance = (id: string, network: string, at: number): Instance => ({
      id,
      userId,
      name,
      status: "CREATED",
      metadata,
      provider: network,
      phone: null,
      ...(callerId && { callerId }),
      createdAt: at,
      updatedAt: at,
      erasedAt: null,
      version: 1,
    });
    return runOnce<Instance & Creation>(
      this.#context,
      principal,
      options.idempotencyKey,
      ["instance", { name, metadata, provider, callerId }],
      async (receipt) => {
        const network = provider ?? (openNetworks[0] as string); // not empty, or the input would have had a fault
        await assertCallerAllowed(this.#context, principal, this.#context.telephony.get(network), callerId);
        const instance = newInstance(ids("inst"), network, system.now());
        const event = events.event({ event: "instance.created", data: { name } }, subjectOf(instance));
        const { limits } = this.#context;
        const maxInstances = limits.instancesPerUser;
        const result = await storage.instances.insert(instance, [event], receipt, maxInstances, byteBudgetOf(limits));
        if (result === "repeated") return undefined;
        if (result === "over_budget") throw await storageQuota(this.#context, instance, "user");
        if (result === "at_limit")
          throw new Refusal(
            "instance_quota",
            `you have ${maxInstances} instances, and this server allows ${maxInstances}; delete one first`,
          );
        events.publish([event]);
        this.#linkAutomatically(instance);
        return { ...instance, created: true, replayed: false };
      },
      async ({ recordId }) => {
        // The input equals that of the first request, so it has the original values of fields that may have changed.
        const instance = await storage.instances.get(recordId);
        if (!instance) return undefined;
        const { id, provider: network, createdAt } = instance;
        return { ...newInstance(id, network, createdAt), created: true, replayed: true };
      },
    );
  }

  async update(principal: Principal, instanceId: string, input: unknown, { strict = false } = {}): Promise<Instance> {
    const { storage, telephony, system } = this.#context;
    const schemas = strict ? this.#context.strictSchemas : this.#context.schemas;
    const { name, metadata, callerId } = parseUpdateInstance(schemas, input);
    const changes = {
      ...(name !== undefined && { name }),
      ...(metadata !== undefined && { metadata }),
      ...(callerId !== undefined && { callerId: callerOf(callerId ?? undefined) ?? null }),
    };
    refuseDemo(principal, "a demo token cannot change instances");
    for (;;) {
      const { id, version, provider } = await ownedInstance(this.#context.storage, principal, instanceId);
      await assertCallerAllowed(this.#context, principal, telephony.get(provider), callerId ?? undefined);
      const updatedInstance = await storage.instances.update(id, version, { ...changes, updatedAt: system.now() }, []);
      if (updatedInstance) return this.#withLiveStatus(updatedInstance); // otherwise another write came first
    }
  }

  async list(principal: Principal, page: Page = {}): Promise<ListedInstance[]> {
    const { instances } = this.#context.storage;
    if (principal.demoInstanceId !== undefined) {
      const instance = await instances.get(principal.demoInstanceId);
      const isListed =
        instance && instance.status !== "DELETED" && mayUseInstance(principal, instance) && page.after === undefined;
      return isListed ? [this.#withConnection(instance)] : [];
    }
    return (await instances.list(principal.userId, page)).map((instance) => this.#withConnection(instance));
  }

  async get(principal: Principal, instanceId: string): Promise<InstanceDetails> {
    const instance = await ownedInstance(this.#context.storage, principal, instanceId);
    const callQueue = await this.#context.storage.calls.active(instance.id);
    return { ...this.#withConnection(instance), callQueue };
  }

  configure(principal: Principal, instanceId: string, waitOptions?: Pick<WaitLimit, "signal">): Promise<LinkingCode> {
    return this.#linking.configure(principal, instanceId, waitOptions);
  }

  pairingCode(
    principal: Principal,
    instanceId: string,
    input: unknown,
    options?: Pick<CreateOptions, "strict" | "signal">,
  ): Promise<TypedLinkCode> {
    return this.#linking.pairingCode(principal, instanceId, input, options);
  }

  linkTicket(principal: Principal, instanceId: string): Promise<LinkTicket> {
    return this.#linking.linkTicket(principal, instanceId);
  }

  linkPage(ticket: string, waitOptions?: Pick<WaitLimit, "signal">): Promise<LinkPageState> {
    return this.#linking.linkPage(ticket, waitOptions);
  }

  async unlink(principal: Principal, instanceId: string): Promise<Instance> {
    refuseDemo(principal, "a demo token cannot unlink numbers");
    const instance = await ownedInstance(this.#context.storage, principal, instanceId);
    await this.#unlinkings.unlink(instance);
    return this.#withLiveStatus(await ownedInstance(this.#context.storage, principal, instanceId));
  }

  async delete(principal: Principal, instanceId: string): Promise<void> {
    refuseDemo(principal, "a demo token cannot delete instances");
    await this.#deletions.delete(await ownedOrDeletedInstance(this.#context.storage, principal, instanceId));
  }

  #linkAutomatically(instance: Instance): void {
    const network = this.#context.telephony.get(instance.provider);
    if (network && linksAutomatically(network)) void this.#lines.monitorOf(instance).probe();
  }

  #withConnection(instance: Instance): ListedInstance {
    return { ...this.#withLiveStatus(instance), connection: this.#lines.connection(instance) };
  }

  #withLiveStatus(instance: Instance): Instance {
    return { ...instance, status: this.#lines.status(instance) };
  }

  /** @param openNetworks the networks that this user may use: any other is treated as nonexistent */
  #providerFaults(input: unknown, openNetworks: readonly string[]): Fault[] {
    const provider = providerIn(input);
    if (provider === undefined ? openNetworks.length > 0 : openNetworks.includes(provider)) return [];
    const problem = provider === undefined ? "there is no provider" : `there is no provider "${provider}"`;
    const hint = openNetworks.length === 0 ? "you may use none" : `it has: ${openNetworks.join(", ")}`;
    const detail = `${problem} on this server; ${hint}${this.#context.access.hint}`;
    return [{ pointer: "/provider", code: "provider_unknown", detail }];
  }
}

function subjectOf(instance: Instance): { callId: null; instanceId: string; userId: string } {
  return { callId: null, instanceId: instance.id, userId: instance.userId };
}
