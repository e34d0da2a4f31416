import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { ClientGone } from '../errors.ts';
import type { Download } from '../services/foundation/download.ts';

/**
 * Sends a file while it is read. Stops to read if the client has gone, or takes nothing for
 * `patienceMs` milliseconds: it would keep its turn, which others wait for (security O15).
 */
export async function sendDownload(
  download: Download,
  request: Request,
  response: Response,
  patienceMs = 60_000,
): Promise<void> {
  response.setTimeout(patienceMs, () => {
    if (response.writableNeedDrain) response.destroy();
  });
  await download.inTurn(() => send(download, request, response));
}

async function send(
  { type, name, parts }: Download,
  request: Request,
  response: Response,
): Promise<void> {
  response.set({
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'no-store',
  });
  if (request.method === 'HEAD') return void response.end();
  try {
    await pipeline(parts, response);
  } catch (error) {
    const hasLeft =
      error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
    throw hasLeft ? new ClientGone('the client has gone') : error;
  }
}
