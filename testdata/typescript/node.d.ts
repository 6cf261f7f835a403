// What the snippets use of Node.js 20.

declare const console: {
  log(...values: unknown[]): void;
  error(...values: unknown[]): void;
};

declare const process: {
  readonly env: Record<string, string | undefined>;
  readonly stdin: { destroy(): void };
  readonly stdout: { write(text: string): boolean };
  readonly stderr: { write(text: string): boolean };
};

declare function setTimeout(callback: (_: void) => void, ms: number): unknown;
declare function setInterval(callback: () => void, ms: number): unknown;

declare class TextEncoder {
  encode(text: string): Uint8Array;
}

declare class URL {
  constructor(url: string);
  readonly protocol: string;
  static canParse(url: string): boolean;
}

declare module "node:child_process" {
  interface SpawnOptions {
    cwd?: string;
    stdio?: "inherit" | "ignore" | "pipe" | readonly ("inherit" | "ignore" | "pipe")[];
  }
  interface ChildProcess {
    readonly pid?: number;
  }
  type Done = (error: Error | null, stdout: string, stderr: string) => void;
  export function spawn(file: string, args: readonly string[], options?: SpawnOptions): ChildProcess;
  export function execFile(file: string, args: readonly string[], options: { cwd?: string }, done: Done): ChildProcess;
  export namespace execFile {
    // What promisify makes of it.
    function __promisify__(
      file: string,
      args: readonly string[],
      options?: { cwd?: string },
    ): Promise<{ stdout: string; stderr: string }>;
  }
}

declare module "node:crypto" {
  export function randomUUID(): string;
}

declare module "node:util" {
  export function promisify<F>(callback: { __promisify__: F }): F;
}
