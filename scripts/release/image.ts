import { mkdirSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bytesIn, digestOf, gzip, writeTar } from './archive.ts';
import { writeBase } from './base.ts';
import { type Arch, run } from './tree.ts';
import { imageTagOf } from './version.ts';

// An OCI image layout (OCI Image Format Specification 1.1), with one image for each processor.

/** The id of the user in the image, as in other images that do without root. */
const user = 65532;

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

/** The content and the data of an image. */
export interface ImageSource {
  arch: Arch;
  /** The file that pins the packages of the base. */
  base: string;
  /** The tree of the release for this processor. */
  tree: string;
  version: string;
  commit: string;
  /** The time of the image and of each file, in seconds since 1970. */
  epoch: number;
}

/** An image in the layout. */
export interface Image extends Descriptor {
  platform: { os: 'linux'; architecture: string };
  /** The bytes of the unpacked image. */
  unpacked: number;
  config: Descriptor;
  layers: Descriptor[];
}

const configType = 'application/vnd.oci.image.config.v1+json';
const layerType = 'application/vnd.oci.image.layer.v1.tar+gzip';
const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const indexType = 'application/vnd.oci.image.index.v1+json';

/** Adds the image for one processor to the layout. `work` is an empty folder to work in. */
export async function addImage(
  layout: string,
  work: string,
  cache: string,
  source: ImageSource,
): Promise<Image> {
  const { arch, epoch } = source;
  const root = join(work, 'root');
  await writeBase(root, arch, source.base, cache);
  const program = join(work, 'program');
  mkdirSync(join(program, 'usr/lib'), { recursive: true });
  mkdirSync(join(program, 'usr/bin'));
  run(work, 'cp', '--archive', source.tree, join(program, 'usr/lib/idctl'));
  symlinkSync('../lib/idctl/bin/idctl', join(program, 'usr/bin/idctl'));
  const state = join(work, 'state');
  for (const path of ['etc/idctl', 'var/lib/idctl', 'tmp'])
    mkdirSync(join(state, path), { recursive: true });
  const layers = [
    layer(root, { epoch }),
    layer(state, { epoch, mode: '1777', paths: ['./tmp'] }),
    layer(state, { epoch, owner: user, mode: '0700', paths: ['./etc/idctl', './var/lib/idctl'] }),
    layer(program, { epoch }),
  ];
  const parts = {
    config: blob(layout, configType, JSON.stringify(configOf(source, layers))),
    layers: layers.map(({ descriptor }) => descriptor),
  };
  const manifest = blob(
    layout,
    manifestType,
    JSON.stringify({ schemaVersion: 2, mediaType: manifestType, ...parts }),
  );
  const unpacked = bytesIn(root) + bytesIn(program);
  const platform = { os: 'linux' as const, architecture: arch.debian };
  return { ...manifest, platform, unpacked, ...parts };

  function layer(folder: string, form: Parameters<typeof writeTar>[2]) {
    const tar = join(work, 'layer.tar');
    writeTar(folder, tar, form);
    const diffId = `sha256:${digestOf(tar)}`;
    return { diffId, descriptor: keep(layout, layerType, gzip(tar)) };
  }
}

function configOf(
  { arch, version, commit, epoch }: ImageSource,
  layers: { diffId: string }[],
): object {
  const created = new Date(epoch * 1000).toISOString();
  return {
    created,
    architecture: arch.debian,
    os: 'linux',
    config: {
      User: `${user}:${user}`,
      ExposedPorts: { '8420/tcp': {} },
      Env: [
        'PATH=/usr/bin',
        'XDG_CONFIG_HOME=/etc',
        'XDG_DATA_HOME=/var/lib',
        'IDCTL_LISTEN=0.0.0.0:8420',
      ],
      Entrypoint: ['/usr/bin/idctl'],
      Cmd: ['serve'],
      Volumes: { '/etc/idctl': {}, '/var/lib/idctl': {} },
      WorkingDir: '/var/lib/idctl',
      StopSignal: 'SIGTERM',
      Labels: {
        'org.opencontainers.image.title': 'idctl',
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.revision': commit,
        'org.opencontainers.image.created': created,
        'org.opencontainers.image.licenses': 'Apache-2.0',
      },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created, created_by: 'npm run release' })),
  };
}

/** Writes the files that make the folder an image layout with these images. */
export function finishLayout(layout: string, images: Image[], version: string): void {
  const tag = imageTagOf(version);
  writeFileSync(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  const list = blob(
    layout,
    indexType,
    JSON.stringify({
      schemaVersion: 2,
      mediaType: indexType,
      manifests: images.map(({ mediaType, digest, size, platform }) => ({
        ...{ mediaType, digest, size, platform },
      })),
    }),
  );
  const annotations = {
    'org.opencontainers.image.ref.name': tag,
    // Docker and Podman give the image this name when they load it.
    'io.containerd.image.name': `docker.io/library/idctl:${tag}`,
  };
  writeFileSync(
    join(layout, 'index.json'),
    JSON.stringify({
      schemaVersion: 2,
      mediaType: indexType,
      manifests: [{ ...list, annotations }],
    }),
  );
  writeFileSync(join(layout, 'manifest.json'), JSON.stringify(images.map(savedForm)));

  /**
   * The entry of `docker save`, for a Docker that cannot read the layout. There, each name has one
   * processor.
   */
  function savedForm({ platform: { architecture }, config, layers }: Image): object {
    const end = architecture === 'amd64' ? '' : `-${architecture}`;
    return {
      Config: pathOf(config.digest),
      RepoTags: [`idctl:${tag}${end}`],
      Layers: layers.map(({ digest }) => pathOf(digest)),
    };
  }
}

function blob(layout: string, mediaType: string, text: string): Descriptor {
  // Each processor has a process of its own, and all share the layout.
  const file = join(layout, `blob.${process.pid}`);
  writeFileSync(file, text);
  return keep(layout, mediaType, file);
}

/** Moves a file into the layout, and names it by its digest. */
function keep(layout: string, mediaType: string, file: string): Descriptor {
  const digest = digestOf(file);
  const { size } = statSync(file);
  mkdirSync(join(layout, 'blobs/sha256'), { recursive: true });
  const descriptor = { mediaType, digest: `sha256:${digest}`, size };
  renameSync(file, join(layout, pathOf(descriptor.digest)));
  return descriptor;
}

function pathOf(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`;
}
