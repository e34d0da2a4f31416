import { argon2id, hash, verify } from 'argon2';
import express from 'express';
import helmet from 'helmet';

// The least that a sign-in over HTTP can cost: Express and one check of a password.

process.on('disconnect', () => process.exit());

const hashed = await hash('correct horse battery', {
  type: argon2id,
  memoryCost: 19456,
  timeCost: 2,
  parallelism: 1,
});

const server = express()
  .use(helmet())
  .post('/', express.json(), async (request, response) => {
    response.json({ right: await verify(hashed, request.body.password) });
  })
  .listen(0, '127.0.0.1', () => process.send?.(server.address()));
