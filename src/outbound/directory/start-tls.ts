import type { Socket } from 'node:net';
import { sizeOf, soundMessage } from './message.ts';

const request = Buffer.concat([
  Buffer.from([0x30, 0x1d, 0x02, 0x01, 0x01, 0x77, 0x18, 0x80, 0x16]),
  Buffer.from('1.3.6.1.4.1.1466.20037'),
]);

/**
 * Starts TLS (RFC 4511 §4.14). Returns the reason why TLS cannot start, or null. The library's
 * StartTLS accepts plaintext after the response, where an attacker could inject a bind response.
 */
export function startTls(
  socket: Socket,
): Promise<'starttls_refused' | 'malformed' | 'closed' | null> {
  return new Promise((resolve) => {
    let have = Buffer.alloc(0);
    const end = (found: 'starttls_refused' | 'malformed' | 'closed' | null) => {
      socket.off('data', read).off('close', closed);
      socket.pause();
      resolve(found);
    };
    const closed = () => end('closed');
    const read = (chunk: Buffer) => {
      have = Buffer.concat([have, chunk]);
      const size = sizeOf(have);
      const late = have.length > 4096 || (size !== null && (size > 4096 || have.length > size));
      if (late) return end('malformed');
      if (have.length !== size) return;
      const result = soundMessage(have)?.result;
      if (!result?.extended) return end('malformed');
      end(result.code === 0 ? null : 'starttls_refused');
    };
    socket.on('data', read).once('close', closed).write(request);
  });
}
