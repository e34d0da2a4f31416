import express from 'express';
import helmet from 'helmet';

// What an Express server costs that does nothing: the peer that the rates of the API are compared with.

process.on('disconnect', () => process.exit());

const server = express()
  .use(helmet())
  .get('/', (_request, response) => {
    response.json({ hello: 'world' });
  })
  .listen(0, '127.0.0.1', () => process.send?.(server.address()));
