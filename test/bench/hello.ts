import express from 'express';
import helmet from 'helmet';

// An Express server that does nothing: the peer for the rates of the API.

process.on('disconnect', () => process.exit());

const server = express()
  .use(helmet())
  .get('/', (_request, response) => {
    response.json({ hello: 'world' });
  })
  .listen(0, '127.0.0.1', () => process.send?.(server.address()));
