// paperclipai/paperclip, server: environments, leases and the runtime.

interface Environment {
  id: string;
  companyId: string;
  name: string;
  driver: string;
  status: "active" | "archived";
  config: Record<string, unknown>;
  metadata: Record<string, unknown> | null;
}

interface EnvironmentLease {
  id: string;
  companyId: string;
  environmentId: string;
  executionWorkspaceId: string | null;
  issueId: string | null;
  heartbeatRunId: string | null;
  status: "active" | "released" | "expired" | "failed" | "retained" | "pending_cleanup";
  leasePolicy: string;
  provider: string | null;
  providerLeaseId: string | null;
  acquiredAt: Date;
  expiresAt: Date | null;
  releasedAt: Date | null;
  failureReason: string | null;
  cleanupStatus: string | null;
  metadata: Record<string, unknown> | null;
}

interface EnvironmentLeaseInput {
  environment: Environment;
  lease: EnvironmentLease;
}

interface EnvironmentAcquireInput {
  companyId: string;
  environment: Environment;
  issueId: string | null;
  agentId?: string | null;
  heartbeatRunId: string | null;
  persistedExecutionWorkspace: { id: string; mode: string } | null;
  adapterType?: string | null;
  requestedExpiresAt?: Date | null;
}

interface EnvironmentExecuteInput extends EnvironmentLeaseInput {
  command: string;
  args?: string[];
  cwd?: string;
  env?: Record<string, string | undefined>;
  stdin?: string;
  timeoutMs?: number;
  bypassSession?: boolean;
}

interface EnvironmentExecuteResult {
  exitCode: number | null;
  signal?: string | null;
  timedOut: boolean;
  stdout: string;
  stderr: string;
}

interface EnvironmentSyncInput extends EnvironmentLeaseInput {
  operations: unknown[];
}

interface EnvironmentDriverOpenDuplexChannelInput extends EnvironmentLeaseInput {
  command: readonly string[];
}

interface CommandManagedDuplexChannel {
  write(bytes: Uint8Array): Promise<void>;
  onData(listener: (bytes: Uint8Array) => void): void;
  onExit(listener: (exit: { exitCode: number | null; transportClosed?: boolean }) => void): void;
  stop(): Promise<void>;
  close(): Promise<void>;
}

interface EnvironmentCapabilities {
  reusableLeases: boolean;
  nativeSyncIn: boolean;
  nativeSyncOut: boolean;
  persistentProcessSessions: boolean;
  duplexCommandStream: boolean;
}

// The optional methods are those that a driver may lack.
interface EnvironmentRuntimeDriver {
  driver: string;
  resolveCapabilities(input: EnvironmentLeaseInput): Promise<EnvironmentCapabilities>;
  acquireRunLease(input: EnvironmentAcquireInput): Promise<EnvironmentLease>;
  resumeRunLease?(input: EnvironmentLeaseInput): Promise<EnvironmentLease | null>;
  destroyRunLease?(input: EnvironmentLeaseInput): Promise<EnvironmentLease | null>;
  execute?(input: EnvironmentExecuteInput): Promise<EnvironmentExecuteResult>;
  syncIn?(input: EnvironmentSyncInput): Promise<void>;
  syncOut?(input: EnvironmentSyncInput): Promise<void>;
  supportsSync?(input: EnvironmentLeaseInput): boolean;
  openDuplexChannel?(input: EnvironmentDriverOpenDuplexChannelInput): Promise<CommandManagedDuplexChannel>;
}

interface EnvironmentRuntimeService {
  getDriver(driver: string): EnvironmentRuntimeDriver | null;
  acquireRunLease(input: EnvironmentAcquireInput): Promise<{ environment: Environment; lease: EnvironmentLease }>;
  resumeRunLease(input: EnvironmentLeaseInput): Promise<EnvironmentLease | null>;
  destroyRunLease(input: EnvironmentLeaseInput): Promise<EnvironmentLease | null>;
  releaseRunLeases(
    heartbeatRunId: string,
    status?: "released" | "expired" | "failed",
    onError?: (leaseId: string, error: unknown) => void,
  ): Promise<EnvironmentLease[]>;
  realizeWorkspace(input: EnvironmentLeaseInput & { workspace: unknown }): Promise<{ cwd: string }>;
  execute(input: EnvironmentExecuteInput): Promise<EnvironmentExecuteResult>;
  syncIn(input: EnvironmentSyncInput): Promise<void>;
  syncOut(input: EnvironmentSyncInput): Promise<void>;
  supportsSync(input: EnvironmentLeaseInput): boolean;
  openDuplexChannel(input: EnvironmentDriverOpenDuplexChannelInput): Promise<CommandManagedDuplexChannel>;
}

interface EnvironmentRuntimeOptions {
  pluginWorkerManager?: PluginWorkerManager;
  drivers?: EnvironmentRuntimeDriver[];
  pluginWorkerReadyTimeoutMs?: number;
  pluginWorkerReadyPollMs?: number;
}

declare function environmentRuntimeService(db: unknown, options?: EnvironmentRuntimeOptions): EnvironmentRuntimeService;

declare class ReusableSandboxResumeError extends Error {
  readonly provider: string;
  readonly providerLeaseId: string;
}
