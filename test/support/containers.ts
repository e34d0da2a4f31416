import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './release.ts';

// Podman containers on runc, with their own store in a folder. They share this machine's network.

/** A shell environment in which `docker` is Podman. */
export interface Containers {
  /** Runs a script and returns its output. */
  run(script: string): Promise<string>;
  /** Removes the containers and the images. */
  close(): Promise<void>;
}

/** Prepares the environment in a new folder. In each container, idctl listens on `listen` only. */
export async function openContainers(folder: string, listen: string): Promise<Containers> {
  mkdirSync(folder);
  // The containers get this process's own hard limit of open files.
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
