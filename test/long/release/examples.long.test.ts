import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { imageTagOf } from '../../../scripts/release/version.ts';
import { counterpartMissing, rootMissing } from '../../support/counterpart.ts';
import { type Engines, startEngines } from '../../support/engines.ts';
import { openRelease, type Release, withVersion } from '../../support/release.ts';

// Docker runs config/compose.yaml. kubectl reads config/kubernetes.yaml, and Podman runs its pods.

const skipped = rootMissing() || counterpartMissing('debootstrap');
const password = 'correct horse battery';
const config = resolve(import.meta.dirname, '../../../config');

describe.skipIf(skipped)('the examples for the image', () => {
  let folder: string;
  let release: Release;
  let engines: Engines;
  const home = () => join(folder, 'debian/root');

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'idctl-examples-'));
    release = await openRelease();
    engines = await startEngines(join(folder, 'debian'));
    mkdirSync(join(home(), 'example'), { mode: 0o700 });
    cpSync(release.file('.oci.tar'), join(home(), `example/idctl-${release.version}.oci.tar`));
    for (const name of ['compose.yaml', 'kubernetes.yaml'])
      writeFileSync(join(home(), 'example', name), example(name));
  }, 3_600_000);
  afterAll(async () => {
    await engines?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const image = () => `idctl:${imageTagOf(release.version)}`;

  /** The text of an example, with this version. */
  const example = (name: string) =>
    withVersion(readFileSync(join(config, name), 'utf8'), release.version);

  /** The commands in the comment at the top of an example. */
  const typed = (name: string) =>
    example(name)
      .split('\n')
      .filter((line) => line.startsWith('#   '))
      .map((line) => line.slice(4))
      .join('\n');

  const run = (script: string) => engines.run(`cd example\n${script}`);

  /** Sends a request to a daemon in the network of the engines, as its proxy does. */
  async function ask(host: string, path: string, options: RequestInit = {}) {
    const script = `
      const answer = await fetch(process.argv[1], JSON.parse(process.argv[2]));
      const cookie = answer.headers.getSetCookie().map((one) => one.split(';')[0]).join('; ');
      process.stdout.write(JSON.stringify({ status: answer.status, cookie }));`;
    const words = ['--input-type=module', '--eval', script];
    const headers = { 'content-type': 'application/json', ...options.headers };
    const given = JSON.stringify({ ...options, headers });
    const url = `http://${host}:8420${path}`;
    const printed = await engines.runBeside(process.execPath, [...words, url, given]);
    return JSON.parse(printed) as { status: number; cookie: string }; // What the script prints.
  }

  const signIn = (host: string, password: string) =>
    ask(host, '/api/v1/auth/login', {
      method: 'POST',
      body: JSON.stringify({ email: 'ada@example.com', password }),
    });

  test('Docker Compose starts idctl with PostgreSQL, and finds it healthy', async () => {
    const shown = await run(typed('compose.yaml'));
    expect(shown).toContain(`Loaded image: ${image()}\n`);
    expect(shown).toMatch(/^Password: +as given$/m);
    const health = "docker inspect --format '{{.State.Health.Status}}' idctl-idctl-1";
    const settled = `until state=$(${health}); [ "$state" != starting ]; do sleep 1; done`;
    expect(await run(`${settled}; echo $state`)).toBe('healthy\n');
    const given = (await run('cat owner-password')).trim();
    expect((await signIn('127.0.0.1', given)).status).toBe(200);
    expect(await run('docker compose run --rm init')).toContain(
      'Its organizations and accounts were not changed.',
    );
    await run('docker compose down --volumes');
  });

  test('kubectl knows each field, and two replicas with the same key share sessions', async () => {
    const read = await run('kubectl annotate --local --filename kubernetes.yaml a=b --output yaml');
    const [settings, job, deployment, service] = parseAllDocuments(read).map((one) => one.toJS());
    const { items } = parse(example('kubernetes.yaml'), { merge: true, version: '1.1' });
    expect([settings, job, deployment, service]).toMatchObject(items);

    const makeSecret = typed('kubernetes.yaml').replace(/(owner-password=).*/, `$1'${password}'`);
    await run(`${makeSecret} --dry-run=client --output yaml >secret.yaml
      podman network create --ignore podman-default-kube-network
      iptables --policy FORWARD ACCEPT
      printf PASSWORD >password
      podman run --detach --name postgres --network podman-default-kube-network \
        --volume ./password:/run/password --env POSTGRES_USER=idctl --env POSTGRES_DB=idctl \
        --env POSTGRES_PASSWORD_FILE=/run/password postgres:15
      until podman exec postgres pg_isready --host postgres; do sleep 1; done
      podman load --input idctl-${release.version}.oci.tar`);
    const secret = parse(readFileSync(join(home(), 'example/secret.yaml'), 'utf8'));
    await play('init', [secret, settings, job]);
    expect(await run('podman wait idctl-init-pod-init')).toBe('0\n');
    const replicas = ['one', 'two'];
    for (const name of replicas)
      await play(name, [settings, { ...deployment, metadata: { name } }]);

    const hosts: string[] = [];
    for (const name of replicas) {
      await run(`until podman exec ${name}-pod-idctl idctl status --ready; do sleep 1; done`);
      const address = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}';
      const infra = `$(podman pod inspect --format '{{.InfraContainerID}}' ${name}-pod)`;
      hosts.push((await run(`podman inspect --format '${address}' ${infra}`)).trim());
    }
    const [first = '', second = ''] = hosts;
    const { status, cookie } = await signIn(first, password);
    expect(status).toBe(200);
    expect((await ask(second, '/api/v1/me', { headers: { cookie } })).status).toBe(200);
    const [container] = deployment.spec.template.spec.containers;
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      expect((await ask(second, container[probe].httpGet.path)).status).toBe(200);
    await run('podman pod rm --all --force; podman rm --all --force');
  });

  /** Runs the documents in Podman. It has no fsGroup for volumes, so they are open to all users. */
  async function play(name: string, documents: object[]): Promise<void> {
    const open = structuredClone(documents) as Played[]; // The documents come from kubectl.
    for (const volume of open.flatMap((one) => one.spec?.template.spec.volumes ?? [])) {
      delete volume.secret?.defaultMode;
      delete volume.emptyDir?.medium;
    }
    const text = open.map((one) => stringify(one)).join('---\n');
    writeFileSync(join(home(), `example/${name}.play.yaml`), text);
    await run(`podman kube play ${name}.play.yaml`);
  }
});

interface Volume {
  secret?: { defaultMode?: number };
  emptyDir?: { medium?: string };
}

interface Played {
  spec?: { template: { spec: { volumes: Volume[] } } };
}
