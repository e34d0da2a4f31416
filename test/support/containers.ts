import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './release.ts';

// Containers of Podman on runc, with a store of their own in a folder. They share the network of this machine.

/** A place where `docker` is Podman. */
export interface Containers {
  /** Runs a script; the answer is what it printed. */
  run(script: string): Promise<string>;
  /** Ends the containers and removes the store. */
  close(): Promise<void>;
}

/** `listen` is where idctl listens in each container, instead of on every address. */
export async function openContainers(folder: string, listen: string): Promise<Containers> {
  mkdirSync(folder);
  // Containers get the limits that this process has, and no others.
  const [, files] =
    /Max open files +\d+ +(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  const store = `--root ${folder}/store --runroot ${folder}/run --tmpdir ${folder}/tmp`;
  const manner = '--cgroup-manager cgroupfs --events-backend file --runtime runc';
  const forRun = `--network host --ulimit nofile=${files}:${files} --ulimit nproc=1024:1024`;
  writeFileSync(
    join(folder, 'docker'),
    `#!/bin/sh
verb=$1
shift
[ "$verb" != run ] || set -- ${forRun} --env IDCTL_LISTEN=${listen} "$@"
exec podman ${store} ${manner} "$verb" "$@"
`,
  );
  chmodSync(join(folder, 'docker'), 0o755);
  const shell = async (script: string) => {
    const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
    const { stdout } = await run('sh', ['-euc', script], { cwd: folder, env });
    return stdout;
  };
  return {
    run: shell,
    close: async () => {
      await shell('docker rm --all --force --time 0; docker rmi --all --force');
    },
  };
}
