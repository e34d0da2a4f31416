import { randomUUIDv7 } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../errors.ts';
import { hasBody } from './body/bytes.ts';
import { problemOf, problemType } from './refusals.ts';

/** Sends a problem object if Node cannot parse a request. Express never sees such a request. */
export function answerBrokenRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const [status, message] = broken(error.code);
    const requestId = randomUUIDv7();
    const body = JSON.stringify(
      problemOf(new Refusal('malformed_request', message), requestId, status),
    );
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `Content-Type: ${problemType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'X-Content-Type-Options: nosniff',
      'Connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  });
}

/** Refuses a request target that is not a URL, which Express would answer in HTML. */
export function answerStrayTarget(response: ServerResponse): void {
  const requestId = randomUUIDv7();
  const refusal = new Refusal('malformed_request', 'The target of the request is not a URL.');
  const body = JSON.stringify(problemOf(refusal, requestId, 400));
  response.writeHead(400, {
    'Content-Type': problemType,
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(body);
}

function broken(code: string | undefined): [number, string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'The headers are too large.'];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'The request did not arrive in time.'];
  return [400, 'This is not a valid HTTP request.'];
}

const [maxDrained, longestDrain] = [1024 * 1024, 1000];

/**
 * Makes Node close the connection of a refused body slowly: after a second, or at the end of the
 * body. Until then it reads up to 1 MiB. Otherwise the client could get a reset before it reads the
 * refusal (RFC 9112 §9.6).
 */
function linger(request: IncomingMessage): void {
  const { socket } = request;
  const close = () => socket.destroy();
  let drained = 0;
  request.on('data', (part: Uint8Array) => {
    drained += part.length;
    // Then the client waits, and can still read the refusal. A reset could come before it.
    if (drained > maxDrained) request.pause();
  });
  request.once('end', close).resume();
  // Node drops the rest of a body that nothing has read, so that it could not be counted.
  request.read(0);
  // Node calls this after the answer, and would close a connection with unread bytes.
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(close, longestDrain);
    socket.once('close', () => clearTimeout(timer));
  };
}

const silentFor = 100;

/**
 * Returns a function that drains the server. The server then does not accept new connections and
 * drops idle ones. Open requests are answered with `Connection: close`, or cut off after the
 * budget.
 */
export function createDrain(server: Server): (budgetMs: number) => Promise<void> {
  const sockets = new Set<Socket>();
  const inFlight = new Set<ServerResponse>();
  let drained: Promise<void> | undefined;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  // Runs before Express, while the response is still unwritten.
  server.prependListener('request', (request, response) => {
    const kept = response.shouldKeepAlive;
    const read = () => {
      response.shouldKeepAlive = kept && drained === undefined;
    };
    if (!hasBody(request)) read();
    else {
      // An answer before the end of the body closes the connection.
      response.shouldKeepAlive = false;
      request.once('end', read);
      response.prependOnceListener('finish', () => {
        if (!request.complete) linger(request);
      });
    }
    inFlight.add(response);
    response.once('close', () => inFlight.delete(response));
  });
  return (budgetMs) => {
    drained ??= new Promise((resolve) => {
      const cutOff = setTimeout(() => server.closeAllConnections(), budgetMs);
      server.close(() => {
        clearTimeout(cutOff);
        resolve();
      });
      for (const response of inFlight) response.shouldKeepAlive = false;
      // Node never drops a connection that has sent nothing. Give it a moment, because a request
      // may be on its way.
      setTimeout(() => {
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      }, silentFor);
    });
    return drained;
  };
}
