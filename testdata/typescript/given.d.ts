// What a snippet takes as given: values that its surroundings hold under these
// names. A snippet that declares one of the names itself has its own.

// On the server.
declare const db: unknown;
declare const runtime: EnvironmentRuntimeService;
declare const workerManager: PluginWorkerManager;
declare const pluginWorkerManager: PluginWorkerManager;
declare const sandboxDriver: Required<EnvironmentRuntimeDriver>;
declare const logger: Record<"info" | "warn" | "error", (fields: object, message?: string) => void>;
declare const environments: {
  getById(id: string): Promise<Environment | null>;
  update(id: string, patch: Partial<Environment>): Promise<Environment>;
};
declare const leases: { getById(id: string): Promise<EnvironmentLease | null> };
declare const plugins: {
  getById(id: string): Promise<PluginRecord | null>;
  getByKey(pluginKey: string): Promise<PluginRecord | null>;
  list(): Promise<PluginRecord[]>;
};
declare const settings: { shell: string };

// An environment and a lease of it.
declare const environment: Environment;
declare const remembered: Environment;
declare const fakeEnvironment: Environment;
declare const pluginEnvironment: Environment;
declare const sandboxEnvironment: Environment;
declare const daytonaEnvironment: Environment;
declare const lease: EnvironmentLease;
declare const row: EnvironmentLease;
declare const fakeLease: EnvironmentLease;
declare const pluginLease: EnvironmentLease;
declare const previous: { lease: EnvironmentLease };
declare const request: Omit<EnvironmentAcquireInput, "environment">;
declare const input: EnvironmentDriverOpenDuplexChannelInput;
declare const runId: string;
declare const id: string;
declare const sandboxId: string;
declare const daytonaKeySecretId: string;

// The work to do.
declare const workspace: unknown;
declare const operations: unknown[];
declare const results: unknown[];
declare const resultsSynced: boolean;
declare const command: string[];
declare const commands: string[][];
declare const steps: { command: string; args?: string[] }[];
declare const env: Record<string, string>;
declare const script: string;
declare const payload: Uint8Array;
declare const channel: CommandManagedDuplexChannel;
declare function acquireLease(environment: Environment): Promise<EnvironmentLease>;
declare function collectLogs(environment: Environment, lease: EnvironmentLease): Promise<void>;
declare function copyWithArchive(input: EnvironmentLeaseInput): Promise<void>;
declare function sawMarker(channel: CommandManagedDuplexChannel): Promise<void>;
declare function isBrokenSandbox(error: unknown): error is Error;

// A plugin and its worker.
declare const plugin: PluginRecord;
declare const pluginId: string;
declare const method: string;
declare const params: Record<string, unknown>;
declare const manifest: unknown;
declare const startOptions: WorkerStartOptions;
declare const newOptions: WorkerStartOptions;
declare const worker: { stdin: { write(line: string): boolean } };
declare function disablePlugin(pluginId: string): Promise<void>;

// In the code of a plugin.
declare const box: { id: string; region: string; home: string };
declare const sessions: Map<string, unknown>;
declare function openTerminal(params: DuplexOpenParams): Promise<unknown>;
declare function callHost(method: string, params: unknown): Promise<unknown>;

// The Daytona provider, its service and its client.
declare const config: DaytonaConfig;
declare const baseConfig: DaytonaConfig;
declare const deleteAfterHours: number;
declare const terminal: { sendInput(data: string | Uint8Array): Promise<void> };
declare const api: { get(path: string, handler: (request: { params: Record<string, string> }) => unknown): void };
