import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { imageTagOf } from '../../../scripts/release/version.ts';
import { type Containers, openContainers } from '../../support/containers.ts';
import { counterpartMissing, rootMissing } from '../../support/counterpart.ts';
import { openRelease, type Release } from '../../support/release.ts';

// Runs the image in containers of Podman, as docs/install.md says.

const skipped = rootMissing() || counterpartMissing('podman') || counterpartMissing('runc');

describe.skipIf(skipped)('the image', () => {
  let folder: string;
  let release: Release;
  let containers: Containers;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'idctl-image-'));
    release = await openRelease();
    const place = join(folder, 'containers');
    containers = await openContainers(place, new URL(release.url).host);
    const file = release.file('.oci.tar');
    cpSync(file, join(place, basename(file)));
  });
  afterAll(async () => {
    await containers?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('runs read-only as user 65532, is set up from the environment, and stops on SIGTERM', async () => {
    const shown = await containers.run(release.typed('Image', 0));
    const [, secret = ''] = /^Password: +(\S+)/m.exec(shown) ?? [];
    expect(shown).toMatch(/^Organization: +Example Ltd /m);
    await release.ready();
    const browser = await release.signIn(secret);
    const inside = (script: string) => containers.run(`docker exec idctl sh -c '${script}'`);
    expect(await inside('id -u; (echo x >/usr/x) 2>&1 || true')).toMatch(/^65532\n.*Read-only/);
    expect(await containers.run(release.typed('Image', 1))).toMatch(/^Daemon: +ready/m);

    expect(await containers.run('docker stop idctl >/dev/null; docker wait idctl')).toBe('0\n');
    const health = release.typed('Image', 0).split('\n').slice(1, 5).join('\n');
    await expect(
      containers.run(health.replace('init --yes', 'status --ready --quiet')),
    ).rejects.toMatchObject({ code: 1 });

    // A command that waits for input stops too. Before its program is loaded, it ignores signals.
    await containers.run(`docker run --detach --interactive --name waits idctl:${imageTagOf(release.version)} \
      init --yes --owner-password-stdin
      until docker kill --signal TERM waits; [ "$(docker inspect --format '{{.State.Running}}' waits)" = false ]
      do sleep 1; done`);
    expect(await containers.run('docker wait waits')).toBe('143\n');
    await containers.run('docker rm --volumes waits');

    await containers.run(release.typed('Image', 2));
    await release.ready();
    expect((await browser.get('/api/v1/me')).status).toBe(200);
    await containers.run(release.typed('Image', 3));
    expect(await containers.run('docker volume ls --quiet; docker images --quiet')).toBe('');
  });
});
