import { stat } from 'node:fs/promises';
import type { LoadedConfig } from '../../../config/load.ts';
import { readKeyFile } from '../../../crypto/key-file.ts';
import { right, wrong } from '../../../finding.ts';
import { shellWord } from '../../../shell-word.ts';
import { readVersion } from '../../../version.ts';
import { type Check, check } from './check.ts';

/** Checks the program and its Node. */
export function checkRuntime(version = process.versions.node): Promise<Check> {
  return check('runtime', 'Node 24.15 or later of 24, or 26 or newer', async () => {
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const fits = (major === 24 && minor >= 15) || major >= 26;
    const message = `idctl ${readVersion()} on Node ${version}`;
    return fits
      ? right(message)
      : wrong(message, 'Run install.sh again: it brings a Node that fits.');
  });
}

/** Checks the configuration. The check fails if it could not be read. */
export async function checkConfig(
  read: () => Promise<LoadedConfig>,
): Promise<{ loaded: LoadedConfig | null; check: Check }> {
  let loaded: LoadedConfig | null = null;
  const found = await check('configuration', 'known settings with usable values', async () => {
    loaded = await read();
    const { file, warnings } = loaded;
    const from = file ?? 'no file: defaults and environment';
    return right(from, warnings.length === 0 ? undefined : warnings.join('; '));
  });
  return { loaded, check: found };
}

/** Checks the master key: present, complete, and readable only by its owner (security X3, X8). */
export function examineKeyFile(path: string): Promise<Check> {
  return check('master key', 'a key that only its owner may read', async () => {
    await readKeyFile(path);
    const { uid } = await stat(path);
    const own = process.geteuid?.() ?? uid;
    if (uid !== own) {
      return wrong(
        `${path} belongs to uid ${uid}, and idctl runs as ${own}`,
        `chown ${own} ${shellWord(path)}`,
      );
    }
    return right(path);
  });
}
