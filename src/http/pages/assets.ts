import { readFile } from 'node:fs/promises';
import { Router } from 'express';
import type { Config } from '../../config/schema.ts';
import { Refusal } from '../../errors.ts';
import { logoPath, style, stylePath } from './layout.ts';

/** What the pages show beside their markup: the stylesheet, and the logo of the instance. */
export function serveAssets({ instance }: Pick<Config, 'instance'>): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get(stylePath, (_request, response) => {
    response.set('Cache-Control', 'public, max-age=31536000, immutable').type('css').end(style);
  });
  const { logo } = instance;
  if (logo !== undefined) {
    router.get(logoPath, async (_request, response) => {
      // A drawing can hold scripts, and styles of its own that it needs.
      response.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
      response.set('Cache-Control', 'public, max-age=3600');
      response.type(typeOf(logo)).end(await read(logo));
    });
  }
  return router;
}

async function read(logo: string): Promise<Buffer> {
  try {
    return await readFile(logo);
  } catch (cause) {
    throw new Refusal('not_found', 'The logo of this instance cannot be read.', { cause });
  }
}

function typeOf(file: string): string {
  return /\.svgz?$/i.test(file) ? 'image/svg+xml' : 'image/png';
}
