// paperclipai/paperclip: the config of the Daytona sandbox provider.

interface DaytonaConfig {
  provider: "daytona";
  apiUrl?: string;
  image?: string;
  snapshot?: string;
  cpu?: number;
  memory?: number;
  disk?: number;
  gpu?: number;
  timeoutMs?: number;
  livenessTimeoutMs?: number;
  autoStopInterval?: number;
  autoArchiveInterval?: number;
  autoDeleteInterval?: number;
  reuseLease?: boolean;
  archiveOnRelease?: boolean;
}
