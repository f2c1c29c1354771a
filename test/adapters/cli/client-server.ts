import { ON_NODE, type Server, useServer } from "../../support/server.ts";
import type { Client } from "../../support/server-client.ts";
import { type CommandResult, launch, type RunningCommand, type RunOptions } from "./run-cli.ts";

/** A server that the tests of the surrounding `describe` use through the command line. */
export class CliServer {
  readonly server: Server;

  constructor(server: Server = useServer(ON_NODE)) {
    this.server = server;
  }

  /** Starts a command as this user. */
  async start(user: string, args: readonly string[], options: RunOptions = {}): Promise<RunningCommand> {
    const { token = "" } = await this.server.as(user);
    const env = { RINGPORT_URL: this.server.base, RINGPORT_TOKEN: token, ...options.env };
    return launch(args, { ...options, env });
  }

  /** Runs a command as this user to its end. */
  async run(user: string, args: readonly string[], options?: RunOptions): Promise<CommandResult> {
    return (await this.start(user, args, options)).finished;
  }

  /** A user with one instance that can place calls, and a client for checking the command line's results. */
  async caller(user: string): Promise<{ client: Client; instanceId: string }> {
    const client = await this.server.as(user);
    return { client, instanceId: (await client.activeInstance()).id };
  }
}
