// paperclipai/paperclip: plugins, their worker processes, and the protocol
// between them and the server.

interface PluginRecord {
  id: string;
  pluginKey: string;
  packageName: string;
  version: string;
  status: string;
  manifestJson: { environmentDrivers?: { driverKey: string; kind?: string }[] };
}

type WorkerStatus = "stopped" | "starting" | "running" | "stopping" | "crashed" | "backoff";

interface WorkerStartOptions {
  entrypointPath: string;
  manifest: unknown;
  config: Record<string, unknown>;
  env?: Record<string, string>;
}

interface PluginWorkerHandle {
  readonly pluginId: string;
  readonly status: WorkerStatus;
  readonly supportedMethods: readonly string[];
  start(): Promise<void>;
  stop(): Promise<void>;
  call(method: string, params: unknown, timeoutMs?: number): Promise<unknown>;
  on(event: "ready" | "exit" | "crash" | "error" | "status", listener: (payload: unknown) => void): void;
}

interface ConfigVerdict {
  ok: boolean;
  errors?: string[];
  warnings?: string[];
}

interface PluginWorkerManager {
  startWorker(pluginId: string, options: WorkerStartOptions): Promise<PluginWorkerHandle>;
  stopWorker(pluginId: string): Promise<void>;
  getWorker(pluginId: string): PluginWorkerHandle | undefined;
  isRunning(pluginId: string): boolean;
  call(
    pluginId: string,
    method: "environmentValidateConfig",
    params: { driverKey: string; config: object },
    timeoutMs?: number,
  ): Promise<ConfigVerdict>;
  call(pluginId: string, method: string, params: unknown, timeoutMs?: number): Promise<unknown>;
}

// What the host sends with duplexChannelOpen.
interface DuplexOpenParams {
  hostRouteId: string;
  driverKey: string;
  companyId: string;
  environmentId: string;
  providerLeaseId: string;
  command: string[];
}

declare module "@paperclipai/plugin-sdk" {
  interface Plugin {
    setup(): Promise<void>;
    onValidateConfig?(config: Record<string, unknown>): Promise<ConfigVerdict>;
  }
  export function definePlugin(plugin: Plugin): Plugin;
}
