#!/usr/bin/env node
'use strict';

// Serves files over HTTP.

const http = require('http');
const { join, resolve: absolute } = require('path');
const config = require('./config').server;
import fs from 'fs';

const PORT = 8080;
let running = false;
const routes = {
  '/': index,
  '/about': (request) => about(request),
};

function Server(root) {
  this.root = absolute(root);
}

Server.prototype.start = function (callback) {
  const handler = (request, response) => this.handle(request, response);
  http.createServer(handler).listen(PORT, callback);
};

Server.prototype.stop = () => {
  running = false;
};

class Router extends EventEmitter {
  #table = new Map();

  static create(...args) {
    return new Router(...args);
  }

  get size() {
    return this.#table.size;
  }

  async *walk({ depth = 1 } = {}) {
    for (const [path, target] of this.#table) {
      yield* fs.promises.readdir(join(path, target));
    }
  }
}

exports.index = function index(request) {
  return render('index', request.query?.page);
};

module.exports.about = (request) => render('about');

module.exports = {
  Server,
  Router,
};

new Server(config.root).start(() => console.log('ready'));
